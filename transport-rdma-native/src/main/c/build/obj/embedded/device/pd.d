build/obj/embedded/device/pd.o: embedded/device/pd.c embedded/device/pd.h \
 embedded/device/context.h embedded/base/fork.h embedded/embedded.h \
 verbs_api.h
embedded/device/pd.h:
embedded/device/context.h:
embedded/base/fork.h:
embedded/embedded.h:
verbs_api.h:
