build/obj/embedded/device/sge.o: embedded/device/sge.c \
 embedded/device/sge.h embedded/link/wire.h embedded/link/link.h \
 embedded/base/copy.h embedded/device/mr.h embedded/device/pd.h \
 embedded/device/context.h embedded/base/fork.h embedded/embedded.h \
 verbs_api.h
embedded/device/sge.h:
embedded/link/wire.h:
embedded/link/link.h:
embedded/base/copy.h:
embedded/device/mr.h:
embedded/device/pd.h:
embedded/device/context.h:
embedded/base/fork.h:
embedded/embedded.h:
verbs_api.h:
