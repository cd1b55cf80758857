build/obj/embedded/base/copy.o: embedded/base/copy.c embedded/base/copy.h
embedded/base/copy.h:
