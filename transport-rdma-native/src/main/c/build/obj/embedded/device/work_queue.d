build/obj/embedded/device/work_queue.o: embedded/device/work_queue.c \
 embedded/device/work_queue.h embedded/device/sge.h embedded/link/wire.h \
 embedded/link/link.h
embedded/device/work_queue.h:
embedded/device/sge.h:
embedded/link/wire.h:
embedded/link/link.h:
