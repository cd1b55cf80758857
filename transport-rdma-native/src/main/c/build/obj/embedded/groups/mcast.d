build/obj/embedded/groups/mcast.o: embedded/groups/mcast.c \
 embedded/groups/mcast.h embedded/base/sealed.h embedded/link/engine.h \
 embedded/link/link.h embedded/groups/mcast_table.h
embedded/groups/mcast.h:
embedded/base/sealed.h:
embedded/link/engine.h:
embedded/link/link.h:
embedded/groups/mcast_table.h:
