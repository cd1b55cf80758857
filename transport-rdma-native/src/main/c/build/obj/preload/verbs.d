build/obj/preload/verbs.o: preload/verbs.c embedded/embedded.h \
 verbs_api.h embedded/device/mr.h embedded/device/pd.h \
 embedded/device/context.h embedded/base/fork.h
embedded/embedded.h:
verbs_api.h:
embedded/device/mr.h:
embedded/device/pd.h:
embedded/device/context.h:
embedded/base/fork.h:
