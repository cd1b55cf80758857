build/obj/bench/shm_limit.o: ../../bench/c/shm_limit.c \
 ../../bench/c/measurement.h ../../bench/c/ring.h
../../bench/c/measurement.h:
../../bench/c/ring.h:
