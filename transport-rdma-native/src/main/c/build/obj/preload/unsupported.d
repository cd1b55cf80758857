build/obj/preload/unsupported.o: preload/unsupported.c
