build/obj/embedded/device/cq_polled.o: embedded/device/cq_polled.c \
 embedded/device/cq.h embedded/device/channel.h embedded/device/context.h \
 embedded/base/fork.h embedded/embedded.h verbs_api.h \
 embedded/base/gate.h embedded/base/backoff.h embedded/base/cancel.h \
 embedded/link/engine.h embedded/link/notify_area.h \
 embedded/device/watch.h
embedded/device/cq.h:
embedded/device/channel.h:
embedded/device/context.h:
embedded/base/fork.h:
embedded/embedded.h:
verbs_api.h:
embedded/base/gate.h:
embedded/base/backoff.h:
embedded/base/cancel.h:
embedded/link/engine.h:
embedded/link/notify_area.h:
embedded/device/watch.h:
