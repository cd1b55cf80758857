build/obj/embedded/link/notify_area.o: embedded/link/notify_area.c \
 embedded/link/notify_area.h embedded/base/sealed.h
embedded/link/notify_area.h:
embedded/base/sealed.h:
