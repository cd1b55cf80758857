build/obj/embedded/device/ah.o: embedded/device/ah.c embedded/device/ah.h \
 embedded/device/pd.h embedded/device/context.h embedded/base/fork.h \
 embedded/embedded.h verbs_api.h
embedded/device/ah.h:
embedded/device/pd.h:
embedded/device/context.h:
embedded/base/fork.h:
embedded/embedded.h:
verbs_api.h:
