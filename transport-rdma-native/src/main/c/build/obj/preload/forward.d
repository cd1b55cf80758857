build/obj/preload/forward.o: preload/forward.c verbs_api.h
verbs_api.h:
