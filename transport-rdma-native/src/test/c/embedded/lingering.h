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
 * Descriptors that are slow to close: a TCP socket that lingers (SO_LINGER, socket(7)) with bytes that its reader does
 * not take, and messages that have one; an eventfd that is watched from memory which is not there.
 */
#ifndef NETTY_RDMA_TEST_LINGERING_H
#define NETTY_RDMA_TEST_LINGERING_H

#include "check.h"

#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define LINGERING_S 3600

/* The last close(2) of it waits until `reader` is closed, or the process that has it ends. */
struct lingering {
    int fd, reader;
};

static inline struct lingering open_lingering(void) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    const struct linger linger = { .l_onoff = 1, .l_linger = LINGERING_S };
    const char bytes[65536] = { 0 };
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(listener >= 0 && fd >= 0);
    CHECK_EQ(bind(listener, (const struct sockaddr *) &address, size), 0);
    CHECK_EQ(listen(listener, 1), 0);
    CHECK_EQ(getsockname(listener, (struct sockaddr *) &address, &size), 0);
    CHECK_EQ(connect(fd, (const struct sockaddr *) &address, size), 0);
    int reader = accept(listener, NULL, NULL);
    CHECK(reader >= 0);
    close(listener);
    while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
    }
    CHECK_EQ(errno, EAGAIN);
    CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    return (struct lingering) { fd, reader };
}

/* sendmsg(2) with `count` descriptors, of which the last one is `fd`. */
static inline ssize_t send_with_fds(int socket, const void *bytes, size_t length, int fd, int count) {
    struct iovec iov = { .iov_base = (void *) bytes, .iov_len = length };
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(253 * sizeof(int))] = { 0 };
    struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
                              .msg_controllen = CMSG_SPACE((size_t) count * sizeof(int)) };
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN((size_t) count * sizeof(int));
    for (int i = 0; i < count; i++) {
        const int other = STDERR_FILENO;
        memcpy(CMSG_DATA(c) + (size_t) i * sizeof(int), i + 1 < count ? &other : &fd, sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

/*
 * The same with one that lingers, and that nobody else has. Returns the reader, or -1 with errno. The receiver must not
 * close it before this returns: the last close would be here.
 */
static inline int send_lingering_behind(int socket, const void *bytes, size_t length, int others) {
    struct lingering lingering = open_lingering();
    ssize_t sent = send_with_fds(socket, bytes, length, lingering.fd, others + 1);
    int error = errno;
    if (sent < 0) {
        close(lingering.reader);
    }
    close(lingering.fd);
    errno = error;
    return sent < 0 ? -1 : lingering.reader;
}

static inline int send_lingering(int socket, const void *bytes, size_t length) {
    return send_lingering_behind(socket, bytes, length, 0);
}

/* A socket for datagrams, as a doorbell is, with a message in it that lingers when it is closed. */
static inline int open_filled(int *reader) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    socklen_t size = sizeof(address);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && to >= 0);
    CHECK_EQ(bind(fd, (const struct sockaddr *) &address, sizeof(address.sun_family)), 0);
    CHECK_EQ(getsockname(fd, (struct sockaddr *) &address, &size), 0);
    CHECK_EQ(connect(to, (const struct sockaddr *) &address, size), 0);
    *reader = send_lingering(to, "", 1);
    CHECK(*reader >= 0);
    close(to);
    return fd;
}

/*
 * An eventfd that an epoll descriptor watches, while a thread waits there: it is to write events to memory which is not
 * there until somebody puts it there (userfaultfd(2)), and the last close(2) of the eventfd waits for it.
 */
struct watched {
    int fd, epoll, faults;
    struct epoll_event *events;
};

static inline void *wait_at_epoll(void *argument) {
    const struct watched *watched = argument;
    epoll_wait(watched->epoll, watched->events, 1, -1);
    return NULL;
}

/* Returns false where this process may not have faults of the kernel wait. `watched` stays where it is. */
static inline bool open_watched(struct watched *watched) {
    const size_t size = 4096;
    struct epoll_event event = { .events = EPOLLIN };
    struct uffdio_api api = { .api = UFFD_API };
    struct uffd_msg fault;
    pthread_t thread;
    watched->faults = (int) syscall(SYS_userfaultfd, O_CLOEXEC);
    if (watched->faults < 0) {
        return false;
    }
    CHECK_EQ(ioctl(watched->faults, UFFDIO_API, &api), 0);
    watched->events = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(watched->events != MAP_FAILED);
    struct uffdio_register memory = {
        .range = { .start = (uintptr_t) watched->events, .len = size }, .mode = UFFDIO_REGISTER_MODE_MISSING,
    };
    CHECK_EQ(ioctl(watched->faults, UFFDIO_REGISTER, &memory), 0);
    watched->epoll = epoll_create1(EPOLL_CLOEXEC);
    watched->fd = eventfd(0, EFD_CLOEXEC);
    int ready = eventfd(1, EFD_CLOEXEC); /* stays open */
    CHECK(watched->epoll >= 0 && watched->fd >= 0 && ready >= 0);
    CHECK_EQ(epoll_ctl(watched->epoll, EPOLL_CTL_ADD, watched->fd, &event), 0);
    CHECK_EQ(epoll_ctl(watched->epoll, EPOLL_CTL_ADD, ready, &event), 0);
    CHECK_EQ(pthread_create(&thread, NULL, wait_at_epoll, watched), 0);
    CHECK_EQ(pthread_detach(thread), 0);
    CHECK_EQ(read(watched->faults, &fault, sizeof(fault)), sizeof(fault)); /* the thread waits */
    return true;
}

static inline void end_watch(const struct watched *watched) {
    struct uffdio_zeropage memory = { .range = { .start = (uintptr_t) watched->events, .len = 4096 } };
    CHECK_EQ(ioctl(watched->faults, UFFDIO_ZEROPAGE, &memory), 0);
}

#endif
