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
#include "embedded/base/memory_limit.h"
#include "account.h"

#define RETRY_NS 10000000u /* descriptors in flight or memory exhausted: no readiness event tells when it is over */
#define LATER_NS 10000000u /* link_send_later() */
#define MAX_QUEUED_BYTES (4u << 20)

/*
 * Bytes that wait for a peer, above which nothing is read from it: the peer sends requests and does not read answers.
 */
#define MAX_UNREAD_BYTES (64u << 10)

/* Limits for all links: this number of descriptors, or a quarter of the process's limit if that is more. */
#define MIN_QUEUED_FDS 128u
#define PART_OF_MEMORY 32 /* part of the memory that queued bytes may take */

#define MESSAGES_PER_CALL 8u
#define CALLS_PER_TURN 8

_Atomic uint32_t link_version = LINK_VERSION;
_Atomic uint64_t link_queue_limit = 64u << 20;

static link_handler handlers[LINK_MESSAGE_LIMIT];
static link_handler lost_handlers[LINK_MESSAGE_LIMIT];

void link_set_handler(unsigned type, link_handler handler) {
    handlers[type] = handler;
}

void link_set_lost_handler(unsigned type, link_handler handler) {
    lost_handlers[type] = handler;
}

const void *link_body(const struct link_message *message, size_t size) {
    return message->length == size && message->nfds == 0 ? message->body : NULL;
}

bool link_is_up(struct link *link) {
    return __atomic_load_n(&link->up, __ATOMIC_ACQUIRE);
}

/* ---- messages that wait to be sent; called with link->lock held ---- */

/* Message in a block, followed by its descriptors, then by its bytes. */
struct packet {
    uint32_t length; /* header and body */
    uint32_t nfds;
};

static int *fds_of(struct packet *packet) {
    return (int *) (packet + 1);
}

static char *bytes_of(struct packet *packet) {
    return (char *) (fds_of(packet) + packet->nfds);
}

static uint32_t words_of(size_t length, int nfds) {
    return (uint32_t) ((sizeof(struct packet) + (size_t) nfds * sizeof(int) + length + sizeof(uint32_t) - 1)
                       / sizeof(uint32_t));
}

static struct packet *packet_at(const struct link_block *block, uint32_t begin) {
    return (struct packet *) &block->words[begin];
}

static struct packet *first_packet(const struct link *link) {
    return packet_at(link->first, link->first->begin);
}

static uint64_t max_queued_bytes(void) {
    uint64_t of_memory = memory_limit() / PART_OF_MEMORY, limit = link_queue_limit;
    return of_memory < limit ? of_memory : limit;
}

/* Returns the limit of queued descriptors, so that a peer that reads slowly does not use up those of this process. */
static uint64_t max_queued_fds(void) {
    struct rlimit limit;
    bool many = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 > MIN_QUEUED_FDS;
    return many ? limit.rlim_cur / 4 : MIN_QUEUED_FDS;
}

/* Makes room for a packet in the last block. Returns 0; ENOMEM; or ENOBUFS, too much waits for this peer. */
static int make_room(struct link *link, uint32_t words) {
    struct link_block *last = link->last;
    if (last != NULL && words <= sizeof(last->words) / sizeof(last->words[0]) - last->end) {
        return 0;
    }
    if (link->queued_bytes + LINK_BLOCK_BYTES > MAX_QUEUED_BYTES
            || !account_charge_share(link->account, LINK_KEPT_QUEUED_BYTES, LINK_BLOCK_BYTES, max_queued_bytes())) {
        return ENOBUFS;
    }
    struct link_block *block = malloc(sizeof(*block));
    if (block == NULL) {
        account_discharge(link->account, LINK_KEPT_QUEUED_BYTES, LINK_BLOCK_BYTES);
        return ENOMEM;
    }
    block->next = NULL;
    block->begin = block->end = 0;
    if (last != NULL) {
        last->next = block;
    } else {
        link->first = block;
    }
    link->last = block;
    link->queued_bytes += LINK_BLOCK_BYTES;
    return 0;
}

/* Closes duplicates by `close_fd`: a peer to whom sockets were sent could send descriptors to them. */
static void close_duplicates(struct link *link, const int *fds, int count, void (*close_fd)(int fd)) {
    for (int i = 0; i < count; i++) {
        close_fd(fds[i]);
    }
    if (count > 0) {
        account_discharge(link->account, LINK_KEPT_QUEUED_FDS, (uint64_t) count);
    }
}

/* Duplicates descriptors. Returns 0 or errno: EMFILE also if too many wait for this peer. */
static int duplicate(struct link *link, const int *fds, int nfds, int *duplicates) {
    if (!account_charge_share(link->account, LINK_KEPT_QUEUED_FDS, (uint64_t) nfds, max_queued_fds())) {
        return EMFILE;
    }
    for (int i = 0; i < nfds; i++) {
        duplicates[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
        if (duplicates[i] < 0) {
            int err = errno;
            account_discharge(link->account, LINK_KEPT_QUEUED_FDS, (uint64_t) (nfds - i));
            close_duplicates(link, duplicates, i, closer_close);
            return err;
        }
    }
    return 0;
}

/* Queues a message. Returns 0 or errno: ENOBUFS, too much waits for this peer. */
static int enqueue(struct link *link, const struct link_header *header, const void *body, size_t length, const int *fds,
                   int nfds) {
    int duplicates[LINK_MAX_FDS];
    uint32_t words = words_of(sizeof(*header) + length, nfds);
    int err = nfds > 0 ? duplicate(link, fds, nfds, duplicates) : 0;
    if (err != 0) {
        return err;
    }
    err = make_room(link, words);
    if (err != 0) {
        close_duplicates(link, duplicates, nfds, closer_close);
        return err;
    }
    struct packet *packet = (struct packet *) &link->last->words[link->last->end];
    link->last->end += words;
    *packet = (struct packet) { .length = (uint32_t) (sizeof(*header) + length), .nfds = (uint32_t) nfds };
    memcpy(fds_of(packet), duplicates, (size_t) nfds * sizeof(int));
    memcpy(bytes_of(packet), header, sizeof(*header));
    if (length > 0) {
        memcpy(bytes_of(packet) + sizeof(*header), body, length);
    }
    return 0;
}

static void remove_first_packet(struct link *link, void (*close_fd)(int fd)) {
    struct link_block *block = link->first;
    struct packet *packet = first_packet(link);
    close_duplicates(link, fds_of(packet), (int) packet->nfds, close_fd);
    block->begin += words_of(packet->length, (int) packet->nfds);
    if (block->begin == block->end) {
        link->first = block->next;
        link->last = link->first == NULL ? NULL : link->last;
        free(block);
        link->queued_bytes -= LINK_BLOCK_BYTES;
        account_discharge(link->account, LINK_KEPT_QUEUED_BYTES, LINK_BLOCK_BYTES);
    }
}

void link_discard_queue(struct link *link, void (*close_fd)(int fd)) {
    while (link->first != NULL) {
        remove_first_packet(link, close_fd);
    }
}

/*
 * Returns whether so much waits for the peer that nothing is read from it before it takes some, as with TCP. Otherwise
 * a peer that sends requests without reading the answers would decide how much memory these take. Only a peer that has
 * made the link is limited so. Such a peer reads the link as long as its process lives, so the queue gets shorter, and
 * the two ends never wait for each other. Reading continues at half of the limit.
 */
static bool has_too_much_to_read(const struct link *link) {
    bool is_acceptor = link->name.kind == LINK_UNNAMED;
    /* The queue may wait for the peer's greeting, which must be read. */
    if (!is_acceptor || link->first == NULL || link->peer_version == 0) {
        return false;
    }
    return link->queued_bytes > (link->stopped ? MAX_UNREAD_BYTES / 2 : MAX_UNREAD_BYTES)
            || account_nears_share(link->account, LINK_KEPT_QUEUED_BYTES, max_queued_bytes());
}

/* ---- sending ---- */

struct sent {
    struct iovec parts[2];
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(LINK_MAX_FDS * sizeof(int))];
    } control;
};

static void fill(struct sent *sent, struct msghdr *message, const struct link_header *header, const void *body,
                 size_t length, const int *fds, int nfds) {
    sent->parts[0] = (struct iovec) { .iov_base = (void *) header, .iov_len = sizeof(*header) };
    sent->parts[1] = (struct iovec) { .iov_base = (void *) body, .iov_len = length };
    *message = (struct msghdr) { .msg_iov = sent->parts, .msg_iovlen = 2 };
    if (nfds > 0) {
        memset(&sent->control, 0, sizeof(sent->control));
        message->msg_control = sent->control.bytes;
        message->msg_controllen = CMSG_SPACE((size_t) nfds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t) nfds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t) nfds * sizeof(int));
    }
}

static ssize_t transmit(int fd, const struct link_header *header, const void *body, size_t length, const int *fds,
                        int nfds) {
    struct sent sent;
    struct msghdr message;
    fill(&sent, &message, header, body, length, fds, nfds);
    return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Sends some of the queued messages, of which there is one at least. Returns their number, or -1 with errno. */
static int transmit_queued(struct link *link) {
    struct sent sent[MESSAGES_PER_CALL];
    struct mmsghdr messages[MESSAGES_PER_CALL];
    unsigned count = 0;
    const struct link_block *block = link->first;
    for (; block != NULL && count < MESSAGES_PER_CALL; block = block->next) {
        for (uint32_t at = block->begin; at < block->end && count < MESSAGES_PER_CALL; count++) {
            struct packet *packet = packet_at(block, at);
            const char *bytes = bytes_of(packet);
            size_t skip = sizeof(struct link_header);
            fill(&sent[count], &messages[count].msg_hdr, (const struct link_header *) bytes, bytes + skip,
                 packet->length - skip, fds_of(packet), (int) packet->nfds);
            at += words_of(packet->length, (int) packet->nfds);
        }
    }
    return sendmmsg(link->source.fd, messages, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Event after which a message that the kernel has refused can be sent. */
enum refusal { FOR_EVER, UNTIL_SPACE, UNTIL_RETRY, UNTIL_GREETED };

static enum refusal refusal_of(const struct link *link, int err) {
    switch (err) {
        case EAGAIN:
            return UNTIL_SPACE;
        case ETOOMANYREFS:
        case ENOBUFS:
        case ENOMEM:
            return UNTIL_RETRY;
        case EPERM: /* no descriptors before the peer knows this process, which it does when it greets */
            return link->peer_version != 0 ? FOR_EVER : UNTIL_GREETED;
        default:
            return FOR_EVER;
    }
}

/* Tells the engine what the link waits for. Called with link->lock held. */
static void watch(struct link *link) {
    link->stopped = has_too_much_to_read(link);
    uint32_t events = (link->paused || link->stopped ? 0 : EPOLLIN) | (link->waiting_for_space ? EPOLLOUT : 0);
    if (events != link->watched) {
        link->watched = events;
        engine_modify(&link->source, events);
    }
}

static int error_of_end(int err) {
    return err == EBADF ? EBADF : EPIPE;
}

/* Sends queued messages. Returns 0, or errno if all are dropped. Called with link->lock held. */
static int send_queued(struct link *link) {
    enum refusal refusal = FOR_EVER;
    int err = 0;
    while (link->first != NULL) {
        int sent = transmit_queued(link);
        if (sent < 0) {
            if (errno == EINTR) {
                continue;
            }
            refusal = refusal_of(link, errno);
            if (refusal == FOR_EVER) {
                err = error_of_end(errno);
                link_discard_queue(link, closer_close); /* the peer is gone: the receiving side will read the end */
            }
            break;
        }
        for (int i = 0; i < sent; i++) {
            remove_first_packet(link, closer_close);
        }
    }
    link->waiting_for_space = refusal == UNTIL_SPACE;
    watch(link);
    if (refusal == UNTIL_RETRY) {
        engine_timer_set(&link->retry_timer, engine_now_ns() + RETRY_NS);
    }
    return err;
}

void link_on_retry(struct engine_timer *timer) {
    struct link *link = container_of(timer, struct link, retry_timer);
    pthread_mutex_lock(&link->lock);
    if (link->source.fd >= 0) {
        link->paused = false;
        send_queued(link);
    }
    pthread_mutex_unlock(&link->lock);
}

static __thread const struct link *held_link; /* link that this thread holds */

int link_send(struct link *link, unsigned type, const void *body, size_t length, const int *fds, int nfds) {
    if (length > LINK_MAX_BODY || nfds < 0 || nfds > LINK_MAX_FDS) {
        return EINVAL;
    }
    struct link_header header = { .type = type };
    int err = 0;
    pthread_mutex_lock(&link->lock);
    if (!link_is_up(link)) {
        err = EPIPE;
    } else {
        if (nfds > 0 && link->first != NULL && !link->waiting_for_space) {
            send_queued(link); /* descriptors that are sent at once need not be duplicated */
        }
        bool held = held_link == link && nfds == 0 && !link->waiting_for_space
                && enqueue(link, &header, body, length, NULL, 0) == 0; /* on failure it is sent as without the hold */
        bool queue = !held && link->first != NULL;
        if (!held && !queue) {
            ssize_t sent;
            do {
                sent = transmit(link->source.fd, &header, body, length, fds, nfds);
            } while (sent < 0 && errno == EINTR);
            if (sent < 0) {
                queue = refusal_of(link, errno) != FOR_EVER;
                err = queue ? 0 : error_of_end(errno);
            }
        }
        if (queue) {
            err = enqueue(link, &header, body, length, fds, nfds);
            if (err == ENOBUFS) {
                __atomic_store_n(&link->up, false, __ATOMIC_RELEASE);
                shutdown(link->source.fd, SHUT_RDWR); /* wakes the engine, which does the rest */
                err = EPIPE;
            } else if (err == 0 && !link->waiting_for_space) {
                err = send_queued(link); /* send_queued() sees the same refusal and arranges the wait for it */
            } else if (err == 0) {
                watch(link);
            }
        }
    }
    pthread_mutex_unlock(&link->lock);
    return err;
}

void link_hold(struct link *link) {
    held_link = link;
}

void link_release(struct link *link) {
    held_link = NULL;
    pthread_mutex_lock(&link->lock);
    if (link->first != NULL && !link->waiting_for_space && link_is_up(link)) {
        send_queued(link);
    }
    pthread_mutex_unlock(&link->lock);
}

int link_send_later(struct link *link, unsigned type, const void *body, size_t length) {
    const struct link_header header = { .type = type };
    pthread_mutex_lock(&link->lock);
    bool is_first = link->first == NULL;
    bool queued = link_is_up(link) && enqueue(link, &header, body, length, NULL, 0) == 0;
    if (queued && is_first && !link->paused) { /* paused: the timer is set */
        engine_timer_set(&link->retry_timer, engine_now_ns() + LATER_NS);
    }
    pthread_mutex_unlock(&link->lock);
    return queued ? 0 : link_send(link, type, body, length, NULL, 0);
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

static int take_fds(const struct link *link, struct msghdr *message, int *fds) {
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
                    closer_close_from(fd, link->peer.may_signal);
                }
            }
        }
    }
    return nfds;
}

static void close_fds(const struct link *link, const int *fds, int nfds) {
    for (int i = 0; i < nfds; i++) {
        if (fds[i] >= 0) {
            closer_close_from(fds[i], link->peer.may_signal);
        }
    }
}

static bool dispatch(struct link *link, uint32_t type, const struct link_message *incoming) {
    if (link->peer_version == 0) {
        const struct link_hello *hello = incoming->body;
        if (type != LINK_HELLO || incoming->length < sizeof(*hello) || hello->magic != LINK_HELLO_MAGIC) {
            return false;
        }
        pthread_mutex_lock(&link->lock);
        link->peer_version = hello->version;
        bool is_same = hello->version == link_version;
        if (is_same) {
            send_queued(link);
        }
        pthread_mutex_unlock(&link->lock);
        return is_same;
    }
    return type < LINK_MESSAGE_LIMIT && handlers[type] != NULL && handlers[type](link, incoming);
}

/*
 * Reports a message whose descriptors were cut off below LINK_MAX_FDS, because this process has run out of descriptors.
 * So one queue pair fails, not all of the link.
 */
static bool report_lost(struct link *link, uint32_t type, const struct link_message *incoming) {
    link_handler handler = type < LINK_MESSAGE_LIMIT ? lost_handlers[type] : NULL;
    return handler == NULL || link->peer_version == 0 || handler(link, incoming);
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

/* Handles a message, or only frees its descriptors after the end of the link. Returns false at the end of the link. */
static bool handle(struct link *link, const struct received *packet, struct msghdr *message, size_t n, bool ended) {
    int fds[LINK_MAX_FDS];
    int nfds = take_fds(link, message, fds);
    bool lost = (message->msg_flags & MSG_CTRUNC) != 0 && nfds < LINK_MAX_FDS;
    const struct link_message incoming = {
        .body = packet->body, .length = n - sizeof(packet->header), .fds = lost ? NULL : fds, .nfds = lost ? 0 : nfds,
    };
    uint32_t type = packet->header.type;
    bool valid = !ended && n >= sizeof(packet->header) && !(message->msg_flags & MSG_TRUNC) && link_is_up(link)
            && (lost ? report_lost(link, type, &incoming) : dispatch(link, type, &incoming));
    close_fds(link, fds, nfds);
    return valid;
}

/* Returns whether the link goes on after an error. */
static bool goes_on_after(int err, bool *again) {
    /* ECONNRESET is reported ahead of the messages that the peer sent before its death (net/unix/af_unix.c). */
    *again = err == EINTR || err == ECONNRESET;
    return *again || err == EAGAIN || err == ENOMEM || err == ENOBUFS;
}

/* Receives some messages, if there are any; `again`: there may be more. Returns false at the end of the link. */
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
    link_hold(link); /* for the answers */
    for (int i = 0; i < count; i++) {
        ended = !handle(link, &packets[i], &messages[i].msg_hdr, messages[i].msg_len, ended);
    }
    link_release(link);
    /* If all were taken, epoll_wait(2) tells if more comes, or an error. */
    *again = !ended && count == (int) MESSAGES_PER_CALL;
    return !ended;
}

/* Pauses reading: the peer's messages stay in the socket for a moment. */
static void pause_reading(struct link *link) {
    pthread_mutex_lock(&link->lock);
    link->paused = true;
    watch(link);
    pthread_mutex_unlock(&link->lock);
    engine_timer_set(&link->retry_timer, engine_now_ns() + RETRY_NS);
}

static bool is_read(struct link *link) {
    pthread_mutex_lock(&link->lock);
    bool read = (link->watched & EPOLLIN) != 0;
    pthread_mutex_unlock(&link->lock);
    return read;
}

/*
 * Receives one message from a peer that may not stop this process: recvmsg(2) closes the descriptors for which there is
 * no room, and waits for that. So the message is looked at first. When it is taken, its descriptors are open here as
 * well.
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
        int fds[LINK_MAX_FDS], nfds = take_fds(link, &message, fds);
        close_fds(link, fds, nfds);
        if (nfds < LINK_MAX_FDS) { /* this process has run out of descriptors */
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
    bool has_ended = (events & (EPOLLHUP | EPOLLERR)) != 0;
    if (has_ended || (events & EPOLLOUT) != 0) {
        pthread_mutex_lock(&link->lock);
        /* Nobody reads any more: queued messages are dropped, and messages sent before by the peer are handled. */
        send_queued(link);
        pthread_mutex_unlock(&link->lock);
    }
    if (has_ended && !is_read(link)) {
        return false; /* epoll(7) would report the end without end */
    }
    bool ended = false;
    if (has_ended || (events & (EPOLLIN | EPOLLRDHUP)) != 0) {
        bool again = true;
        for (int i = 0; again && i < CALLS_PER_TURN && is_read(link); i++) {
            ended = !receive(link, &again);
        }
    }
    return !ended;
}
