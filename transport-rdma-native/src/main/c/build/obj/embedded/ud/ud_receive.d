build/obj/embedded/ud/ud_receive.o: embedded/ud/ud_receive.c \
 embedded/base/container_of.h embedded/base/epoch.h embedded/device/srq.h \
 embedded/device/qp.h embedded/device/context.h embedded/base/fork.h \
 embedded/embedded.h verbs_api.h embedded/device/cq.h \
 embedded/device/channel.h embedded/base/gate.h embedded/base/backoff.h \
 embedded/base/cancel.h embedded/link/engine.h \
 embedded/link/notify_area.h embedded/link/peer.h embedded/link/arena.h \
 embedded/link/engine.h embedded/link/wire.h embedded/link/link.h \
 embedded/link/process.h embedded/link/notify_area.h \
 embedded/link/stream.h embedded/device/pd.h embedded/device/sge.h \
 embedded/link/wire.h embedded/device/work_queue.h embedded/ud/ud.h \
 embedded/device/ah.h embedded/device/qp.h embedded/groups/mcast.h \
 embedded/ud/flow.h embedded/device/cq.h embedded/ud/flow_table.h
embedded/base/container_of.h:
embedded/base/epoch.h:
embedded/device/srq.h:
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
embedded/ud/ud.h:
embedded/device/ah.h:
embedded/device/qp.h:
embedded/groups/mcast.h:
embedded/ud/flow.h:
embedded/device/cq.h:
embedded/ud/flow_table.h:
