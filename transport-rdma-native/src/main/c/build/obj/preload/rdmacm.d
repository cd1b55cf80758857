build/obj/preload/rdmacm.o: preload/rdmacm.c embedded/cm/cm_private.h \
 embedded/cm/cm_wire.h embedded/link/link.h embedded/base/container_of.h \
 embedded/base/fork.h embedded/embedded.h verbs_api.h \
 embedded/link/engine.h
embedded/cm/cm_private.h:
embedded/cm/cm_wire.h:
embedded/link/link.h:
embedded/base/container_of.h:
embedded/base/fork.h:
embedded/embedded.h:
verbs_api.h:
embedded/link/engine.h:
