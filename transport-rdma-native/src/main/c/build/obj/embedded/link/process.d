build/obj/embedded/link/process.o: embedded/link/process.c \
 embedded/link/process.h embedded/link/notify_area.h \
 embedded/base/doorbell.h embedded/base/cancel.h embedded/base/sealed.h
embedded/link/process.h:
embedded/link/notify_area.h:
embedded/base/doorbell.h:
embedded/base/cancel.h:
embedded/base/sealed.h:
