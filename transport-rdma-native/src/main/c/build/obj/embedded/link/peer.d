build/obj/embedded/link/peer.o: embedded/link/peer.c embedded/link/peer.h \
 embedded/link/arena.h embedded/link/engine.h embedded/link/wire.h \
 embedded/link/link.h embedded/link/process.h embedded/link/notify_area.h
embedded/link/peer.h:
embedded/link/arena.h:
embedded/link/engine.h:
embedded/link/wire.h:
embedded/link/link.h:
embedded/link/process.h:
embedded/link/notify_area.h:
