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
 * Included before everything else when the embedded provider is compiled for the tests of faults (-include): its calls
 * that can fail for want of a resource are counted by their place in the source, and one of them is made to fail.
 *
 * No call can be forgotten: the build refuses objects of the provider that use a function of the system which is
 * neither here nor in harmless.list.
 */
#ifndef NETTY_RDMA_TEST_FAULT_CALLS_H
#define NETTY_RDMA_TEST_FAULT_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "faults.h"

#define FAULT_SITE(name, ...)                                                                                         \
    ({                                                                                                                \
        static struct fault_site site_ = { #name, __FILE__, __LINE__, { __VA_ARGS__ }, 0 };                            \
        static struct fault_site *const entry_ __attribute__((used, section("fault_entries"))) = &site_;              \
        entry_;                                                                                                       \
    })

#define FAULT_ALLOCATE(name, call)                                                                                    \
    ({                                                                                                                \
        struct fault_site *const where_ = FAULT_SITE(name, ENOMEM);                                                   \
        fault_of(where_) != 0 ? NULL : fault_allocated(where_, call);                                                 \
    })

#define malloc(...) FAULT_ALLOCATE(malloc, malloc(__VA_ARGS__))
#define calloc(...) FAULT_ALLOCATE(calloc, calloc(__VA_ARGS__))
#define aligned_alloc(...) FAULT_ALLOCATE(aligned_alloc, aligned_alloc(__VA_ARGS__))
#define realloc(memory, ...)                                                                                          \
    ({                                                                                                                \
        struct fault_site *const where_ = FAULT_SITE(realloc, ENOMEM);                                                \
        void *const old_ = memory;                                                                                    \
        fault_of(where_) != 0 ? NULL : (fault_freed(old_), fault_allocated(where_, realloc(old_, __VA_ARGS__)));      \
    })
#define free(memory)                                                                                                  \
    ({                                                                                                                \
        void *const old_ = memory;                                                                                    \
        fault_freed(old_);                                                                                            \
        free(old_);                                                                                                   \
    })

#define mmap(...)                                                                                                     \
    ({                                                                                                                \
        struct fault_site *const where_ = FAULT_SITE(mmap, ENOMEM);                                                   \
        fault_of(where_) != 0 ? MAP_FAILED : fault_allocated(where_, mmap(__VA_ARGS__));                              \
    })
#define munmap(memory, length)                                                                                        \
    ({                                                                                                                \
        void *const old_ = memory;                                                                                    \
        fault_freed(old_);                                                                                            \
        munmap(old_, length);                                                                                         \
    })

#define recvmmsg(...) fault_recvmmsg(FAULT_SITE(recvmmsg, ENOMEM, FAULT_NO_DESCRIPTORS), __VA_ARGS__)

#define FAULT_CALL(failure, site, call) (fault_of(site) != 0 ? failure : call)

#define memfd_create(...) FAULT_CALL(-1, FAULT_SITE(memfd_create, EMFILE), memfd_create(__VA_ARGS__))
#define ftruncate(...) FAULT_CALL(-1, FAULT_SITE(ftruncate, ENOMEM), ftruncate(__VA_ARGS__))
#define madvise(...) FAULT_CALL(-1, FAULT_SITE(madvise, ENOMEM), madvise(__VA_ARGS__))
#define fcntl(descriptor, command, ...)                                                                               \
    /* Asking for flags takes nothing. */                                                                             \
    ((command) != F_GETFL && fault_of(FAULT_SITE(fcntl, EMFILE)) != 0                                                 \
             ? -1 : fcntl(descriptor, command, ##__VA_ARGS__))
#define socket(...) FAULT_CALL(-1, FAULT_SITE(socket, EMFILE, ENOBUFS), socket(__VA_ARGS__))
#define bind(...) FAULT_CALL(-1, FAULT_SITE(bind, ENOMEM), bind(__VA_ARGS__))
#define listen(...) FAULT_CALL(-1, FAULT_SITE(listen, ENOMEM), listen(__VA_ARGS__))
#define connect(...) FAULT_CALL(-1, FAULT_SITE(connect, ENOMEM, EAGAIN), connect(__VA_ARGS__))
#define accept4(...) FAULT_CALL(-1, FAULT_SITE(accept4, EMFILE, ENOMEM), accept4(__VA_ARGS__))
#define sendmmsg(...) FAULT_CALL(-1, FAULT_SITE(sendmmsg, ENOBUFS, EAGAIN), sendmmsg(__VA_ARGS__))
#define sendmsg(...) FAULT_CALL(-1, FAULT_SITE(sendmsg, ENOBUFS, EAGAIN), sendmsg(__VA_ARGS__))
#define eventfd(...) FAULT_CALL(-1, FAULT_SITE(eventfd, EMFILE), eventfd(__VA_ARGS__))
#define timerfd_create(...) FAULT_CALL(-1, FAULT_SITE(timerfd_create, EMFILE), timerfd_create(__VA_ARGS__))
#define epoll_create1(...) FAULT_CALL(-1, FAULT_SITE(epoll_create1, EMFILE), epoll_create1(__VA_ARGS__))
#define epoll_ctl(set, operation, ...)                                                                                \
    /* Only adding takes memory. */                                                                                   \
    ((operation) == EPOLL_CTL_ADD && fault_of(FAULT_SITE(epoll_ctl, ENOSPC)) != 0                                     \
             ? -1 : epoll_ctl(set, operation, __VA_ARGS__))
#define open(...) FAULT_CALL(-1, FAULT_SITE(open, EMFILE), open(__VA_ARGS__))
#define openat(...) FAULT_CALL(-1, FAULT_SITE(openat, EMFILE), openat(__VA_ARGS__))
#define linkat(...) FAULT_CALL(-1, FAULT_SITE(linkat, ENOSPC), linkat(__VA_ARGS__))
#define chmod(...) FAULT_CALL(-1, FAULT_SITE(chmod, ENOSPC), chmod(__VA_ARGS__))
#define stat(...) FAULT_CALL(-1, FAULT_SITE(stat, ENOMEM), stat(__VA_ARGS__))
#define ioctl(...) FAULT_CALL(-1, FAULT_SITE(ioctl, ENOMEM), ioctl(__VA_ARGS__))
#define fopen(...) FAULT_CALL(NULL, FAULT_SITE(fopen, EMFILE), fopen(__VA_ARGS__))
#define getrandom(...) FAULT_CALL(-1, FAULT_SITE(getrandom, EAGAIN), getrandom(__VA_ARGS__))

#define FAULT_NUMBER(site, call)                                                                                      \
    ({                                                                                                                \
        const int error_ = fault_of(site);                                                                            \
        error_ != 0 ? error_ : call;                                                                                  \
    })
#define getpwnam_r(...) FAULT_NUMBER(FAULT_SITE(getpwnam_r, ENOMEM), getpwnam_r(__VA_ARGS__))
#define getgrnam_r(...) FAULT_NUMBER(FAULT_SITE(getgrnam_r, ENOMEM), getgrnam_r(__VA_ARGS__))
#define pthread_create(...) FAULT_NUMBER(FAULT_SITE(pthread_create, EAGAIN), pthread_create(__VA_ARGS__))
#define pthread_attr_init(...) FAULT_NUMBER(FAULT_SITE(pthread_attr_init, ENOMEM), pthread_attr_init(__VA_ARGS__))
#define pthread_key_create(...) FAULT_NUMBER(FAULT_SITE(pthread_key_create, EAGAIN), pthread_key_create(__VA_ARGS__))
#define pthread_setspecific(...) FAULT_NUMBER(FAULT_SITE(pthread_setspecific, ENOMEM), pthread_setspecific(__VA_ARGS__))

#endif
