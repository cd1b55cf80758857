build/obj/embedded/base/epoch.o: embedded/base/epoch.c \
 embedded/base/epoch.h embedded/base/backoff.h embedded/base/cancel.h
embedded/base/epoch.h:
embedded/base/backoff.h:
embedded/base/cancel.h:
