build/obj/embedded/device/mr.o: embedded/device/mr.c embedded/device/mr.h \
 embedded/device/pd.h embedded/device/context.h embedded/base/fork.h \
 embedded/embedded.h verbs_api.h embedded/base/cancel.h \
 embedded/base/epoch.h
embedded/device/mr.h:
embedded/device/pd.h:
embedded/device/context.h:
embedded/base/fork.h:
embedded/embedded.h:
verbs_api.h:
embedded/base/cancel.h:
embedded/base/epoch.h:
