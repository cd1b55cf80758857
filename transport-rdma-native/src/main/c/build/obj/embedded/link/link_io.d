build/obj/embedded/link/link_io.o: embedded/link/link_io.c \
 embedded/link/link_private.h embedded/base/container_of.h \
 embedded/link/engine.h embedded/link/link.h
embedded/link/link_private.h:
embedded/base/container_of.h:
embedded/link/engine.h:
embedded/link/link.h:
