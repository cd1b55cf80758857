build/obj/embedded/cm/cm_qp.o: embedded/cm/cm_qp.c \
 embedded/cm/cm_private.h embedded/cm/cm_wire.h embedded/link/link.h \
 embedded/base/container_of.h embedded/base/fork.h embedded/embedded.h \
 verbs_api.h embedded/link/engine.h embedded/base/cancel.h \
 embedded/device/context.h
embedded/cm/cm_private.h:
embedded/cm/cm_wire.h:
embedded/link/link.h:
embedded/base/container_of.h:
embedded/base/fork.h:
embedded/embedded.h:
verbs_api.h:
embedded/link/engine.h:
embedded/base/cancel.h:
embedded/device/context.h:
