build/obj/embedded/link/engine.o: embedded/link/engine.c \
 embedded/link/engine.h embedded/base/cancel.h embedded/base/fork.h
embedded/link/engine.h:
embedded/base/cancel.h:
embedded/base/fork.h:
