build/obj/embedded/device/qp_modify.o: embedded/device/qp_modify.c \
 embedded/base/cancel.h embedded/device/qp.h embedded/device/context.h \
 embedded/base/fork.h embedded/embedded.h verbs_api.h \
 embedded/device/cq.h embedded/device/channel.h embedded/base/gate.h \
 embedded/base/backoff.h embedded/base/cancel.h embedded/link/engine.h \
 embedded/link/notify_area.h embedded/link/peer.h embedded/link/arena.h \
 embedded/link/engine.h embedded/link/wire.h embedded/link/link.h \
 embedded/link/process.h embedded/link/notify_area.h \
 embedded/link/stream.h embedded/device/pd.h embedded/device/sge.h \
 embedded/link/wire.h embedded/device/work_queue.h \
 embedded/device/watch.h
embedded/base/cancel.h:
embedded/device/qp.h:
embedded/device/context.h:
embedded/base/fork.h:
embedded/embedded.h:
verbs_api.h:
embedded/device/cq.h:
embedded/device/channel.h:
embedded/base/gate.h:
embedded/base/backoff.h:
embedded/base/cancel.h:
embedded/link/engine.h:
embedded/link/notify_area.h:
embedded/link/peer.h:
embedded/link/arena.h:
embedded/link/engine.h:
embedded/link/wire.h:
embedded/link/link.h:
embedded/link/process.h:
embedded/link/notify_area.h:
embedded/link/stream.h:
embedded/device/pd.h:
embedded/device/sge.h:
embedded/link/wire.h:
embedded/device/work_queue.h:
embedded/device/watch.h:
