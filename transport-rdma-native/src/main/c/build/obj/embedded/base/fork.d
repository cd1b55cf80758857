build/obj/embedded/base/fork.o: embedded/base/fork.c embedded/base/fork.h
embedded/base/fork.h:
