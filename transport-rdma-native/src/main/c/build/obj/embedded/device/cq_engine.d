build/obj/embedded/device/cq_engine.o: embedded/device/cq_engine.c \
 embedded/device/cq.h embedded/device/channel.h embedded/device/context.h \
 embedded/base/fork.h embedded/embedded.h verbs_api.h \
 embedded/base/gate.h embedded/base/backoff.h embedded/base/cancel.h \
 embedded/link/engine.h embedded/link/notify_area.h \
 embedded/base/doorbell.h embedded/base/spin_policy.h
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
embedded/base/doorbell.h:
embedded/base/spin_policy.h:
