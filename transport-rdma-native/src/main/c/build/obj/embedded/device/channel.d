build/obj/embedded/device/channel.o: embedded/device/channel.c \
 embedded/device/channel.h embedded/device/context.h embedded/base/fork.h \
 embedded/embedded.h verbs_api.h embedded/device/cq.h \
 embedded/base/gate.h embedded/base/backoff.h embedded/base/cancel.h \
 embedded/link/engine.h embedded/link/notify_area.h \
 embedded/base/cancel.h embedded/base/doorbell.h
embedded/device/channel.h:
embedded/device/context.h:
embedded/base/fork.h:
embedded/embedded.h:
verbs_api.h:
embedded/device/cq.h:
embedded/base/gate.h:
embedded/base/backoff.h:
embedded/base/cancel.h:
embedded/link/engine.h:
embedded/link/notify_area.h:
embedded/base/cancel.h:
embedded/base/doorbell.h:
