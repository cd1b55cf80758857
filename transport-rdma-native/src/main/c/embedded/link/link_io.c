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
 * Messages on links: a queue for what the socket does not take at once, and the checks of what comes in.
 */
#include "link_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "embedded/base/closer.h"

#define RETRY_NS 10000000u /* descriptors in flight or memory exhausted: no readiness event tells when it is over */
#define MAX_QUEUED_BYTES (4u << 20)
#define MIN_QUEUED_FDS 64u /* of all links: this, or a quarter of those that there may be */
#define MESSAGES_PER_CALL 8u
#define CALLS_PER_TURN 8

_Atomic uint32_t link_version = LINK_VERSION;

static link_handler handlers[LINK_MESSAGE_LIMIT];
static link_lost_handler lost_handlers[LINK_MESSAGE_LIMIT];
static unsigned queued_fds; /* atomic; duplicates, of all links */

void link_set_handler(unsigned type, link_handler handler) {
    handlers[type] = handler;
}

void link_set_lost_handler(unsigned type, link_lost_handler handler) {
    lost_handlers[type] = handler;
}

bool link_is_up(struct link *link) {
    return __atomic_load_n(&link->up, __ATOMIC_ACQUIRE);
}

/* A peer to whom they were sent could send to those that are sockets. */
static void free_packet(struct link_packet *m, void (*close_fd)(int fd)) {
    for (int i = 0; i < m->nfds; i++) {
        close_fd(m->fds[i]);
    }
    __atomic_sub_fetch(&queued_fds, (unsigned) m->nfds, __ATOMIC_RELAXED);
    free(m);
}

void link_discard_queue(struct link *link, void (*close_fd)(int fd)) {
    while (link->first != NULL) {
        struct link_packet *m = link->first;
        link->first = m->next;
        free_packet(m, close_fd);
    }
    link->last = NULL;
    link->queued_bytes = 0;
}

/* ---- sending ---- */

static ssize_t transmit(int fd, const struct link_header *header, const void *body, size_t length, const int *fds,
                        int nfds) {
    struct iovec parts[2] = {
        { .iov_base = (void *) header, .iov_len = sizeof(*header) },
        { .iov_base = (void *) body, .iov_len = length },
    };
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(LINK_MAX_FDS * sizeof(int))];
    } control;
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
    if (nfds > 0) {
        memset(&control, 0, sizeof(control));
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE((size_t) nfds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t) nfds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t) nfds * sizeof(int));
    }
    return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What ends a refusal of the kernel. */
enum refusal { FOR_EVER, UNTIL_SPACE, UNTIL_RETRY, UNTIL_GREETED };

static enum refusal refusal_of(const struct link *link, int err) {
    switch (err) {
    case EAGAIN:
        return UNTIL_SPACE;
    case ETOOMANYREFS:
    case ENOBUFS:
    case ENOMEM:
        return UNTIL_RETRY;
    case EPERM: /* descriptors: not before the peer knows this process, and it greets then */
        return link->peer_version != 0 ? FOR_EVER : UNTIL_GREETED;
    default:
        return FOR_EVER;
    }
}

/* With link->lock. */
static void watch(struct link *link, bool waits_for_space, bool paused) {
    if (waits_for_space != link->waiting_for_space || paused != link->paused) {
        link->waiting_for_space = waits_for_space;
        link->paused = paused;
        engine_modify(&link->source, (paused ? 0 : EPOLLIN) | (waits_for_space ? EPOLLOUT : 0));
    }
}

/* Sends what is queued; with link->lock. */
static void flush(struct link *link) {
    enum refusal refusal = FOR_EVER;
    while (link->first != NULL) {
        struct link_packet *m = link->first;
        size_t skip = sizeof(struct link_header);
        ssize_t sent = transmit(link->source.fd, (struct link_header *) m->bytes, m->bytes + skip, m->length - skip,
                                m->fds, m->nfds);
        if (sent < 0) {
            if (errno == EINTR) {
                continue;
            }
            refusal = refusal_of(link, errno);
            if (refusal == FOR_EVER) {
                link_discard_queue(link, closer_close); /* the peer is gone: the receiving side will read the end */
            }
            break;
        }
        link->first = m->next;
        link->queued_bytes -= m->length;
        if (link->first == NULL) {
            link->last = NULL;
        }
        free_packet(m, closer_close);
    }
    watch(link, refusal == UNTIL_SPACE, link->paused);
    if (refusal == UNTIL_RETRY) {
        engine_timer_set(&link->retry_timer, engine_now_ns() + RETRY_NS);
    }
}

void link_on_retry(struct engine_timer *timer) {
    struct link *link = container_of(timer, struct link, retry_timer);
    pthread_mutex_lock(&link->lock);
    if (link->source.fd >= 0) {
        watch(link, link->waiting_for_space, false);
        flush(link);
    }
    pthread_mutex_unlock(&link->lock);
}

/* A peer that does not read, or slowly, must not make all descriptors of this process wait in its queue. */
static bool may_queue_fds(void) {
    struct rlimit limit;
    unsigned count = __atomic_load_n(&queued_fds, __ATOMIC_RELAXED);
    return count < MIN_QUEUED_FDS || (getrlimit(RLIMIT_NOFILE, &limit) == 0 && count < limit.rlim_cur / 4);
}

static int enqueue(struct link *link, const struct link_header *header, const void *body, size_t length, const int *fds,
                   int nfds) {
    if (nfds > 0 && !may_queue_fds()) {
        return EMFILE;
    }
    struct link_packet *m = malloc(sizeof(*m) + sizeof(*header) + length);
    if (m == NULL) {
        return ENOMEM;
    }
    m->next = NULL;
    m->length = sizeof(*header) + length;
    memcpy(m->bytes, header, sizeof(*header));
    if (length > 0) {
        memcpy(m->bytes + sizeof(*header), body, length);
    }
    for (m->nfds = 0; m->nfds < nfds; m->nfds++) {
        m->fds[m->nfds] = fcntl(fds[m->nfds], F_DUPFD_CLOEXEC, 0);
        if (m->fds[m->nfds] < 0) {
            int err = errno;
            __atomic_add_fetch(&queued_fds, (unsigned) m->nfds, __ATOMIC_RELAXED);
            free_packet(m, closer_close);
            return err;
        }
    }
    __atomic_add_fetch(&queued_fds, (unsigned) nfds, __ATOMIC_RELAXED);
    if (link->last != NULL) {
        link->last->next = m;
    } else {
        link->first = m;
    }
    link->last = m;
    link->queued_bytes += m->length;
    return 0;
}

int link_send(struct link *link, unsigned type, const void *body, size_t length, const int *fds, int nfds) {
    if (length > LINK_MAX_BODY || nfds < 0 || nfds > LINK_MAX_FDS) {
        return EINVAL;
    }
    struct link_header header = { .type = type };
    int err = 0;
    pthread_mutex_lock(&link->lock);
    if (!link_is_up(link)) {
        err = EPIPE;
    } else if (link->first != NULL && link->queued_bytes > MAX_QUEUED_BYTES) {
        __atomic_store_n(&link->up, false, __ATOMIC_RELEASE);
        shutdown(link->source.fd, SHUT_RDWR);
        err = EPIPE;
    } else {
        bool queue = link->first != NULL;
        if (!queue) {
            ssize_t sent;
            do {
                sent = transmit(link->source.fd, &header, body, length, fds, nfds);
            } while (sent < 0 && errno == EINTR);
            if (sent < 0) {
                queue = refusal_of(link, errno) != FOR_EVER;
                err = queue ? 0 : errno == EBADF ? EBADF : EPIPE;
            }
        }
        if (queue) {
            err = enqueue(link, &header, body, length, fds, nfds);
            if (err == 0 && !link->waiting_for_space) {
                flush(link); /* sees the same refusal and arranges the wait for it */
            }
        }
    }
    pthread_mutex_unlock(&link->lock);
    return err;
}

bool link_is_behind(struct link *link) {
    pthread_mutex_lock(&link->lock);
    bool behind = link->first != NULL;
    pthread_mutex_unlock(&link->lock);
    return behind;
}

/* ---- receiving ---- */

bool link_is_of_another_version(const struct link *link) {
    return link->peer_version != 0 && link->peer_version != link_version;
}

static int take_fds(struct msghdr *message, int *fds) {
    int nfds = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (size_t i = 0; i < n; i++) {
                int fd;
                memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
                if (nfds < LINK_MAX_FDS) {
                    fds[nfds++] = fd;
                } else {
                    closer_close(fd);
                }
            }
        }
    }
    return nfds;
}

static void close_fds(const int *fds, int nfds) {
    for (int i = 0; i < nfds; i++) {
        if (fds[i] >= 0) {
            closer_close(fds[i]);
        }
    }
}

static bool dispatch(struct link *link, const struct link_header *header, const void *body, size_t length, int *fds,
                     int nfds) {
    if (link->peer_version == 0) {
        const struct link_hello *hello = body;
        if (header->type != LINK_HELLO || length < sizeof(*hello) || hello->magic != LINK_HELLO_MAGIC) {
            return false;
        }
        pthread_mutex_lock(&link->lock);
        link->peer_version = hello->version;
        bool is_same = hello->version == link_version;
        if (is_same) {
            flush(link);
        }
        pthread_mutex_unlock(&link->lock);
        return is_same;
    }
    if (header->type >= LINK_MESSAGE_LIMIT || handlers[header->type] == NULL) {
        return false;
    }
    return handlers[header->type](link, body, length, fds, nfds);
}

/* Cut off before our limit: this process has run out of descriptors. That costs one queue pair, not all. */
static bool report_lost(struct link *link, const struct link_header *header, const void *body, size_t length) {
    link_lost_handler handler = header->type < LINK_MESSAGE_LIMIT ? lost_handlers[header->type] : NULL;
    return handler == NULL || link->peer_version == 0 || handler(link, body, length);
}

struct received {
    struct link_header header;
    _Alignas(16) char body[LINK_MAX_BODY];
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(LINK_MAX_FDS * sizeof(int))];
    struct iovec parts[2];
};

static void prepare(struct received *packet, struct msghdr *message) {
    packet->parts[0] = (struct iovec) { .iov_base = &packet->header, .iov_len = sizeof(packet->header) };
    packet->parts[1] = (struct iovec) { .iov_base = packet->body, .iov_len = sizeof(packet->body) };
    *message = (struct msghdr) {
        .msg_iov = packet->parts,
        .msg_iovlen = 2,
        .msg_control = packet->control,
        .msg_controllen = sizeof(packet->control),
    };
}

/* Returns false at the end of the link, after which a message is only rid of its descriptors. */
static bool handle(struct link *link, const struct received *packet, struct msghdr *message, size_t n, bool ended) {
    int fds[LINK_MAX_FDS];
    int nfds = take_fds(message, fds);
    bool lost = (message->msg_flags & MSG_CTRUNC) != 0 && nfds < LINK_MAX_FDS;
    size_t length = n - sizeof(packet->header);
    bool valid = !ended && n >= sizeof(packet->header) && !(message->msg_flags & MSG_TRUNC) && link_is_up(link)
            && (lost ? report_lost(link, &packet->header, packet->body, length)
                     : dispatch(link, &packet->header, packet->body, length, fds, nfds));
    close_fds(fds, nfds);
    return valid;
}

/* Returns false at the end of the link. */
static bool goes_on_after(int err, bool *again) {
    /* ECONNRESET is reported ahead of the messages that the peer sent before its death (net/unix/af_unix.c). */
    *again = err == EINTR || err == ECONNRESET;
    return *again || err == EAGAIN || err == ENOMEM || err == ENOBUFS;
}

/* Some messages, if there are any; `again`: there may be more. Returns false at the end of the link. */
static bool receive_some(struct link *link, bool *again) {
    struct received packets[MESSAGES_PER_CALL];
    struct mmsghdr messages[MESSAGES_PER_CALL];
    for (unsigned i = 0; i < MESSAGES_PER_CALL; i++) {
        prepare(&packets[i], &messages[i].msg_hdr);
    }
    int count = recvmmsg(link->source.fd, messages, MESSAGES_PER_CALL, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, NULL);
    if (count < 0) {
        return goes_on_after(errno, again);
    }
    bool ended = false;
    for (int i = 0; i < count; i++) {
        ended = !handle(link, &packets[i], &messages[i].msg_hdr, messages[i].msg_len, ended);
    }
    *again = !ended && count == (int) MESSAGES_PER_CALL; /* else epoll_wait(2) says so if more comes, or an error */
    return !ended;
}

/* What the peer has sent stays where it is for a moment. */
static void pause_reading(struct link *link) {
    pthread_mutex_lock(&link->lock);
    watch(link, link->waiting_for_space, true);
    pthread_mutex_unlock(&link->lock);
    engine_timer_set(&link->retry_timer, engine_now_ns() + RETRY_NS);
}

static bool is_paused(struct link *link) {
    pthread_mutex_lock(&link->lock);
    bool paused = link->paused;
    pthread_mutex_unlock(&link->lock);
    return paused;
}

/*
 * The same for a peer that may not stop this process: recvmsg(2) closes the descriptors for which there is no room, and
 * waits for that. So the message is looked at first. When it is taken, what it had is open here as well.
 */
static bool receive_one(struct link *link, bool *again) {
    struct received packet;
    struct msghdr message;
    *again = false;
    prepare(&packet, &message);
    ssize_t n = recvmsg(link->source.fd, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0) {
        return goes_on_after(errno, again);
    }
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
        int fds[LINK_MAX_FDS], nfds = take_fds(&message, fds);
        close_fds(fds, nfds);
        if (nfds < LINK_MAX_FDS) { /* this process has run out of them */
            pause_reading(link);
        }
        return nfds < LINK_MAX_FDS;
    }
    (void) !recv(link->source.fd, NULL, 0, MSG_DONTWAIT);
    *again = handle(link, &packet, &message, (size_t) n, false);
    return *again;
}

static bool receive(struct link *link, bool *again) {
    if (closer_is_behind()) {
        *again = false;
        pause_reading(link);
        return true;
    }
    return link->peer.may_signal ? receive_some(link, again) : receive_one(link, again);
}

bool link_transfer(struct link *link, uint32_t events) {
    if ((events & (EPOLLHUP | EPOLLERR)) != 0 && is_paused(link)) {
        return false; /* epoll(7) would report it without end */
    }
    if (events & EPOLLOUT) {
        pthread_mutex_lock(&link->lock);
        flush(link);
        pthread_mutex_unlock(&link->lock);
    }
    bool ended = false;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) {
        bool again = true;
        for (int i = 0; again && i < CALLS_PER_TURN; i++) {
            ended = !receive(link, &again);
        }
    }
    return !ended;
}
