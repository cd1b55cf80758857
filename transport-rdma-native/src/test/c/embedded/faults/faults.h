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
 * Calls of the provider that fail, and calls that were made. calls.h makes the provider ask here.
 *
 * The plan is in memory that forked processes share, so that one of them plans and all count.
 */
#ifndef NETTY_RDMA_TEST_FAULTS_H
#define NETTY_RDMA_TEST_FAULTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define FAULT_MAX_SITES 512
#define FAULT_ERRORS 2

/* recvmsg(2): the message comes, but without its descriptors, as there was no room (MSG_CTRUNC). No errno value. */
#define FAULT_NO_DESCRIPTORS (-1)

/* A place in the source that calls something which can fail. */
struct fault_site {
    const char *call, *file;
    int line;
    int errors[FAULT_ERRORS]; /* errors of the call, by its manual page; 0: none */
    int index; /* index of the first site at this place: the inline functions of headers have one in each file */
};

/* Roles of two processes. */
enum fault_role { FAULT_CLIENT, FAULT_SERVICE, FAULT_ROLES };

struct fault_plan {
    _Atomic bool armed; /* calls count, and those that the plan names fail */
    enum fault_role role;
    int site; /* -1: none */
    long occurrence; /* the first is 1 */
    int error; /* index of the site's error */
    int then; /* a site whose next call fails after it; -1: none */
    unsigned per_mille; /* share of all calls of this role that fail as well, at random */
    _Atomic uint64_t random;

    _Atomic bool fired;
    _Atomic long calls[FAULT_ROLES][FAULT_MAX_SITES]; /* number of calls while armed */
    _Atomic long failed[FAULT_MAX_SITES];
};

extern struct fault_plan *fault_plan; /* plan of this process; NULL: nothing fails */
extern enum fault_role fault_role;

/* Finds the sites. */
void fault_init(void);
int fault_sites(void);
const struct fault_site *fault_site(int index);
/* Returns how many allocations of the site in this process are not freed. */
long fault_live(int index);

/* ---- for the provider ---- */

/* 0, or the error with which this call is to fail: it is in errno as well, unless it is none. */
int fault_of(const struct fault_site *site);

/* Remembers an allocation with its place until it is freed. */
void *fault_allocated(const struct fault_site *site, void *memory);
void fault_freed(const void *memory);

int fault_recvmmsg(const struct fault_site *site, int fd, struct mmsghdr *messages, unsigned limit, int flags,
                   struct timespec *timeout);

#endif
