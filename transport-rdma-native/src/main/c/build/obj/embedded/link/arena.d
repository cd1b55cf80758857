build/obj/embedded/link/arena.o: embedded/link/arena.c \
 embedded/link/arena.h embedded/link/engine.h embedded/link/wire.h \
 embedded/link/link.h embedded/base/container_of.h embedded/base/sealed.h
embedded/link/arena.h:
embedded/link/engine.h:
embedded/link/wire.h:
embedded/link/link.h:
embedded/base/container_of.h:
embedded/base/sealed.h:
