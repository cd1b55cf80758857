build/obj/embedded/ud/flow.o: embedded/ud/flow.c embedded/ud/flow.h \
 embedded/device/cq.h embedded/device/channel.h embedded/device/context.h \
 embedded/base/fork.h embedded/embedded.h verbs_api.h \
 embedded/base/gate.h embedded/base/backoff.h embedded/base/cancel.h \
 embedded/link/engine.h embedded/link/notify_area.h embedded/link/peer.h \
 embedded/link/arena.h embedded/link/engine.h embedded/link/wire.h \
 embedded/link/link.h embedded/link/process.h embedded/link/notify_area.h \
 embedded/link/stream.h embedded/ud/flow_table.h embedded/base/copy.h \
 embedded/device/qp.h embedded/device/cq.h embedded/device/pd.h \
 embedded/device/sge.h embedded/link/wire.h embedded/device/work_queue.h \
 embedded/ud/ud.h embedded/device/ah.h embedded/groups/mcast.h
embedded/ud/flow.h:
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
embedded/link/peer.h:
embedded/link/arena.h:
embedded/link/engine.h:
embedded/link/wire.h:
embedded/link/link.h:
embedded/link/process.h:
embedded/link/notify_area.h:
embedded/link/stream.h:
embedded/ud/flow_table.h:
embedded/base/copy.h:
embedded/device/qp.h:
embedded/device/cq.h:
embedded/device/pd.h:
embedded/device/sge.h:
embedded/link/wire.h:
embedded/device/work_queue.h:
embedded/ud/ud.h:
embedded/device/ah.h:
embedded/groups/mcast.h:
