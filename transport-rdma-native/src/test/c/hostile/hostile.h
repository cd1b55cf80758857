/*
 * Copyright 2026 The Netty Project
 *
 * The Netty Project licenses this file to you under the Apache License,
 * version 2.0 (the "License"); you may not use this file except in compliance
 * with the License. You may obtain a copy of the License at:
 *
 *   https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
 * License for the specific language governing permissions and limitations
 * under the License.
 */
/*
 * A hostile neighbour of processes that use the embedded provider: the other side of HostileNeighboursTest.
 *
 *   hostile NEIGHBOUR ATTACK PORT [NAME...]
 *
 * It first becomes the neighbour: `stranger`, another user of this network namespace; `far`, this user in another PID
 * namespace; `near`, this user. Then it attacks the server at PORT of 127.0.0.1 and those that listen at the NAMEs,
 * abstract ones of unix(7), in rounds without end. It prints "READY" after the first one, or "READY skipped: REASON",
 * and "ROUNDS N" for each line on its standard input, with whose end it ends.
 */
#ifndef NETTY_RDMA_TEST_HOSTILE_H
#define NETTY_RDMA_TEST_HOSTILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum neighbour { STRANGER, FAR, NEAR };

struct hostile {
    enum neighbour neighbour;
    uid_t victim; /* the user whose processes are attacked */
    uint16_t port;
    char **names;
    int count; /* number of names */
};
extern struct hostile hostile;

/* A round is over. */
void end_round(void);

/* Holds on to what was taken: rounds in which nothing happens. */
_Noreturn void hold(void);

/* Pauses to reach a random instant; nothing is waited for. */
void pause_for_us(unsigned at_most);

/* A child that is killed with this process. Returns 0 in it. */
pid_t fork_worker(void);

/* by_socket.c */
void linger(void);           /* sends sockets whose close(2) takes an hour */
void connect_forever(void);  /* links without end, with and without a greeting */
void ask_and_not_read(void); /* questions whose answers stay where they are */
void take_port(void);        /* the name of the port */
void take_groups(void);      /* the name of the process that keeps the members of groups, which then does not answer */
void take_numbers(void);     /* the names of queue pair numbers, as many as this user may */
void make_fifo(void);        /* puts a FIFO in place of the lock of the folder NAME */
void make_link(void);        /* the same, a hard link to a file of this user */
/* Returns whether the listener at that name answers a version that it may not read. */
bool is_answered_in_another_version(int i);

/* by_verbs.c */
void stay_half_open(void);  /* asks for connections and confirms none */
void change_flags(void);    /* changes flags of the doorbells that it is lent */
void scribble(void);        /* random words into all that it shares, while it is connected */
void speak_another(void);   /* version */
void stop_connecting(void); /* processes that are stopped while they connect */
void die_connecting(void);  /* the same, killed */

#endif
