build/obj/embedded/link/stream.o: embedded/link/stream.c \
 embedded/link/stream.h embedded/link/wire.h embedded/link/link.h
embedded/link/stream.h:
embedded/link/wire.h:
embedded/link/link.h:
