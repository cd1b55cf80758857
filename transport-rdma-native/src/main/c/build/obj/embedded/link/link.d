build/obj/embedded/link/link.o: embedded/link/link.c \
 embedded/link/link_private.h embedded/base/container_of.h \
 embedded/link/engine.h embedded/link/link.h embedded/base/fork.h
embedded/link/link_private.h:
embedded/base/container_of.h:
embedded/link/engine.h:
embedded/link/link.h:
embedded/base/fork.h:
