build/obj/verbs_api.o: verbs_api.c verbs_api.h embedded/embedded.h \
 verbs_api.h
verbs_api.h:
embedded/embedded.h:
verbs_api.h:
