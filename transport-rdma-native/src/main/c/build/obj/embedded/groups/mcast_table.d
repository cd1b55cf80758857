build/obj/embedded/groups/mcast_table.o: embedded/groups/mcast_table.c \
 embedded/groups/mcast_table.h embedded/groups/mcast.h \
 embedded/base/sealed.h
embedded/groups/mcast_table.h:
embedded/groups/mcast.h:
embedded/base/sealed.h:
