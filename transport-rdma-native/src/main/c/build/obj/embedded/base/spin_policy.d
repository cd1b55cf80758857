build/obj/embedded/base/spin_policy.o: embedded/base/spin_policy.c \
 embedded/base/spin_policy.h
embedded/base/spin_policy.h:
