build/obj/embedded/base/sealed.o: embedded/base/sealed.c \
 embedded/base/sealed.h
embedded/base/sealed.h:
