build/obj/embedded/device/async.o: embedded/device/async.c \
 embedded/device/context.h embedded/base/fork.h embedded/embedded.h \
 verbs_api.h embedded/base/cancel.h
embedded/device/context.h:
embedded/base/fork.h:
embedded/embedded.h:
verbs_api.h:
embedded/base/cancel.h:
