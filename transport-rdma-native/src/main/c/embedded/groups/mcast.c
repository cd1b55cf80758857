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
 * Registry of multicast members: see mcast.h. The administrator is the process that has bound a name, which is a port
 * of a port space that no RDMA CM has.
 *
 * `mcast.lock` is taken inside gates, and before the locks of links; no gate is waited for while it is held.
 */
#include "mcast.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "embedded/base/closer.h"
#include "embedded/base/sealed.h"
#include "embedded/link/engine.h"
#include "embedded/link/link.h"
#include "mcast_table.h"

#define PORT ((uint16_t) link_version) /* each version has its own, as different ones have no link */

#define MAX_QPN 0xffffffu

#define PATIENCE_NS UINT64_C(2000000000)
#define RETRY_NS UINT64_C(2000000)

/*
 * Messages of clients: JOIN, LEAVE, and LOOK for the table without joining; of the administrator: TABLE (to JOIN and
 * LOOK), DONE.
 */
enum mcast_message { MCAST_JOIN = LINK_MCAST_FIRST, MCAST_LEAVE, MCAST_LOOK, MCAST_TABLE, MCAST_DONE };

struct mcast_request {
    union ibv_gid gid;
    uint32_t qpn;
    uint32_t cookie; /* number of the request; 0: no answer is needed */
};

struct mcast_answer {
    uint32_t cookie;
    uint32_t error;
};

struct membership {
    struct membership *next;
    struct mcast_request request;
};

struct waiting {
    struct waiting *next;
    uint32_t cookie;
    bool answered;
    int error;
};

static void retry(struct engine_timer *timer);

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct mcast_table *table; /* table; NULL: not known */
    uint64_t era;                 /* number of tables so far */
    struct membership *memberships; /* members of this process */
    struct waiting *waiting;
    uint32_t next_cookie;
    struct engine_timer timer;

    struct link *link; /* link to the administrator, if that is another process */
    bool table_lost;   /* the table did not come for want of descriptors: ask again */

    /* Fields of the administrator: */
    struct link_port *port;
    struct mcast_registry own;
} mcast = { .lock = PTHREAD_MUTEX_INITIALIZER, .own = { .fd = -1 }, .timer = { .fire = retry } };

/* ---- finding the administrator, or becoming it; called with mcast.lock held ---- */

static int become_administrator(void) {
    int error = mcast_registry_open(&mcast.own);
    if (error != 0) {
        link_unbind_port(mcast.port);
        mcast.port = NULL;
        return error;
    }
    mcast.table = mcast.own.table;
    mcast.era++;
    for (const struct membership *m = mcast.memberships; m != NULL; m = m->next) {
        mcast_registry_add(&mcast.own, NULL, &m->request.gid, m->request.qpn);
    }
    return 0;
}

static int introduce_members(void) {
    int error = link_send(mcast.link, MCAST_LOOK, NULL, 0, NULL, 0);
    for (const struct membership *m = mcast.memberships; error == 0 && m != NULL; m = m->next) {
        error = link_send(mcast.link, MCAST_JOIN, &m->request, sizeof(m->request), NULL, 0);
    }
    return error;
}

static void forget_administrator(void) {
    if (mcast.table != NULL) {
        closer_unmap(mcast.table, sizeof(*mcast.table));
        mcast.table = NULL;
    }
    link_put(mcast.link);
    mcast.link = NULL;
    mcast.table_lost = false;
    pthread_cond_broadcast(&mcast.changed);
    if (mcast.memberships != NULL) {
        engine_timer_set(&mcast.timer, engine_now_ns());
    }
}

/*
 * Reaches the administrator. Returns 0 or errno; ECONNREFUSED, EAGAIN and EPIPE if the present one is just coming or
 * going.
 */
static int reach(void) {
    if (mcast.link != NULL && !link_is_up(mcast.link)) {
        forget_administrator();
    }
    if (mcast.link != NULL && mcast.table_lost) {
        mcast.table_lost = false;
        return link_send(mcast.link, MCAST_LOOK, NULL, 0, NULL, 0);
    }
    if (mcast.port != NULL || mcast.link != NULL) {
        return 0;
    }
    int error = link_bind_port(LINK_COMMON, PORT, &mcast.port);
    if (error == 0) {
        return become_administrator();
    }
    if (error == EADDRINUSE) {
        error = link_connect_port(LINK_COMMON, PORT, true, &mcast.link);
        if (error == 0) {
            error = introduce_members();
        }
    }
    return error;
}

static bool is_temporary(int error) {
    return error == ECONNREFUSED || error == EAGAIN || error == EPIPE;
}

static void retry(struct engine_timer *timer) {
    pthread_mutex_lock(&mcast.lock);
    if (mcast.memberships != NULL && is_temporary(reach())) {
        engine_timer_set(timer, engine_now_ns() + RETRY_NS);
    }
    pthread_mutex_unlock(&mcast.lock);
}

/* ---- members of this process ---- */

static void wait_until(uint64_t time_ns) {
    const struct timespec at = { (time_t) (time_ns / 1000000000), (long) (time_ns % 1000000000) };
    pthread_cond_timedwait(&mcast.changed, &mcast.lock, &at);
}

/* Reaches the administrator, waiting for one. */
static int reach_by(uint64_t deadline_ns) {
    int error;
    uint64_t now;
    while (is_temporary(error = reach()) && (now = engine_now_ns()) < deadline_ns) {
        wait_until(now + RETRY_NS);
    }
    return error;
}

/* Asks once. Returns EPIPE if the administrator went away before it answered. */
static int ask_once(enum mcast_message type, struct mcast_request *request, uint64_t deadline_ns) {
    struct waiting waiting = { .next = mcast.waiting, .cookie = request->cookie };
    const struct link *link = mcast.link;
    int error = link_send(mcast.link, type, request, sizeof(*request), NULL, 0);
    if (error != 0) {
        return error;
    }
    mcast.waiting = &waiting;
    while (!waiting.answered && mcast.link == link && engine_now_ns() < deadline_ns) {
        wait_until(deadline_ns);
    }
    struct waiting **entry = &mcast.waiting;
    while (*entry != &waiting) {
        entry = &(*entry)->next;
    }
    *entry = waiting.next;
    return waiting.answered ? waiting.error : mcast.link != link ? EPIPE : ETIMEDOUT;
}

static int ask(enum mcast_message type, struct mcast_request *request) {
    uint64_t deadline = engine_now_ns() + PATIENCE_NS;
    int error;
    do {
        error = reach_by(deadline);
        if (error == 0 && mcast.port != NULL) {
            if (type == MCAST_JOIN) {
                return mcast_registry_add(&mcast.own, NULL, &request->gid, request->qpn);
            }
            mcast_registry_remove(&mcast.own, NULL, &request->gid, request->qpn);
            return 0;
        }
        if (error == 0) {
            do {
                request->cookie = ++mcast.next_cookie;
            } while (request->cookie == 0);
            error = ask_once(type, request, deadline);
        }
    } while (is_temporary(error) && engine_now_ns() < deadline);
    return error;
}

static void forget(const struct mcast_request *request) {
    struct membership **link = &mcast.memberships;
    while (*link != NULL && ((*link)->request.qpn != request->qpn
                             || memcmp(&(*link)->request.gid, &request->gid, sizeof(request->gid)) != 0)) {
        link = &(*link)->next;
    }
    struct membership *membership = *link;
    if (membership != NULL) {
        *link = membership->next;
        free(membership);
    }
}

/* Withdraws a request that the administrator has not answered, as it may take it up later. */
static void withdraw(const struct mcast_request *request) {
    if (mcast.link != NULL) {
        const struct mcast_request leave = { .gid = request->gid, .qpn = request->qpn };
        link_send(mcast.link, MCAST_LEAVE, &leave, sizeof(leave), NULL, 0);
    }
}

int mcast_join(const union ibv_gid *gid, uint32_t qpn) {
    struct mcast_request request = { .gid = *gid, .qpn = qpn };
    struct membership *membership = malloc(sizeof(*membership));
    if (membership == NULL) {
        return ENOMEM;
    }
    pthread_mutex_lock(&mcast.lock);
    *membership = (struct membership) { mcast.memberships, request };
    mcast.memberships = membership; /* added first: a new administrator is to hear of the member, even while we ask */
    int error = ask(MCAST_JOIN, &request);
    if (error != 0) {
        forget(&request);
        withdraw(&request);
    }
    pthread_mutex_unlock(&mcast.lock);
    return error;
}

void mcast_leave(const union ibv_gid *gid, uint32_t qpn) {
    struct mcast_request request = { .gid = *gid, .qpn = qpn };
    pthread_mutex_lock(&mcast.lock);
    forget(&request);
    /* The result does not matter: an entry that stays leads to a queue pair that refuses the group's datagrams. */
    ask(MCAST_LEAVE, &request);
    pthread_mutex_unlock(&mcast.lock);
}

void mcast_rest(void) {
    pthread_mutex_lock(&mcast.lock);
    if (mcast.memberships == NULL && mcast.port != NULL) {
        link_unbind_port(mcast.port);
        mcast.port = NULL;
        mcast.table = NULL;
        mcast_registry_close(&mcast.own);
    } else if (mcast.memberships == NULL && mcast.link != NULL) {
        forget_administrator();
    }
    pthread_mutex_unlock(&mcast.lock);
}

/* ---- senders ---- */

bool mcast_find_members(const union ibv_gid *gid, struct mcast_members *members) {
    pthread_mutex_lock(&mcast.lock);
    bool known = reach() == 0 && mcast.table != NULL;
    if (known && (members->era != mcast.era || members->generation != atomic_load(&mcast.table->generation)
                  || memcmp(&members->gid, gid, sizeof(*gid)) != 0)) {
        members->gid = *gid;
        known = mcast_table_read(mcast.table, members);
        members->era = known ? mcast.era : 0;
    }
    pthread_mutex_unlock(&mcast.lock);
    return known;
}

/* ---- messages, on the engine thread ---- */

static bool read_request(const void *body, size_t length, int nfds, struct mcast_request *request) {
    if (length != sizeof(*request) || nfds != 0) {
        return false;
    }
    memcpy(request, body, sizeof(*request));
    return request->gid.raw[0] == 0xff && request->qpn <= MAX_QPN;
}

static void answer(struct link *link, const struct mcast_request *request, int error) {
    if (request->cookie != 0) {
        const struct mcast_answer message = { .cookie = request->cookie, .error = (uint32_t) error };
        link_send(link, MCAST_DONE, &message, sizeof(message), NULL, 0);
    }
}

static bool on_join(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    struct mcast_request request;
    if (!read_request(body, length, nfds, &request)) {
        return false;
    }
    pthread_mutex_lock(&mcast.lock);
    bool valid = mcast.own.table != NULL;
    if (valid) {
        answer(link, &request, mcast_registry_add(&mcast.own, link, &request.gid, request.qpn));
    }
    pthread_mutex_unlock(&mcast.lock);
    return valid;
}

static bool on_leave(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    struct mcast_request request;
    if (!read_request(body, length, nfds, &request)) {
        return false;
    }
    pthread_mutex_lock(&mcast.lock);
    bool valid = mcast.own.table != NULL;
    if (valid) {
        mcast_registry_remove(&mcast.own, link, &request.gid, request.qpn);
        answer(link, &request, 0);
    }
    pthread_mutex_unlock(&mcast.lock);
    return valid;
}

static bool on_look(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) body;
    (void) fds;
    pthread_mutex_lock(&mcast.lock);
    bool valid = length == 0 && nfds == 0 && mcast.own.table != NULL;
    if (valid) {
        link_send(link, MCAST_TABLE, NULL, 0, &mcast.own.fd, 1);
    }
    pthread_mutex_unlock(&mcast.lock);
    return valid;
}

static bool on_table(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) body;
    bool valid = length == 0 && nfds == 1;
    pthread_mutex_lock(&mcast.lock);
    if (valid && link == mcast.link && mcast.table == NULL) {
        mcast.table = sealed_map(fds[0], sizeof(*mcast.table));
        mcast.era++;
        valid = mcast.table != NULL; /* without memory the link goes, and comes again when it is needed */
    }
    pthread_mutex_unlock(&mcast.lock);
    return valid;
}

static bool on_lost_table(struct link *link, const void *body, size_t length) {
    (void) body;
    (void) length;
    pthread_mutex_lock(&mcast.lock);
    mcast.table_lost |= link == mcast.link && mcast.table == NULL;
    pthread_mutex_unlock(&mcast.lock);
    return true;
}

static bool on_done(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    struct mcast_answer message;
    if (length != sizeof(message) || nfds != 0) {
        return false;
    }
    memcpy(&message, body, sizeof(message));
    pthread_mutex_lock(&mcast.lock);
    for (struct waiting *w = link == mcast.link ? mcast.waiting : NULL; w != NULL; w = w->next) {
        if (w->cookie == message.cookie) {
            w->answered = true;
            w->error = message.error == 0 ? 0 : ENOMEM;
            pthread_cond_broadcast(&mcast.changed);
        }
    }
    pthread_mutex_unlock(&mcast.lock);
    return true;
}

static void on_down(struct link *link) {
    pthread_mutex_lock(&mcast.lock);
    if (link == mcast.link) {
        forget_administrator();
    }
    if (mcast.own.table != NULL) {
        mcast_registry_remove_all(&mcast.own, link);
    }
    pthread_mutex_unlock(&mcast.lock);
}

static void init_locks(void) {
    pthread_condattr_t monotonic;
    pthread_mutex_init(&mcast.lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&mcast.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Forgets the state: the child has none of the parent's queue pairs, and its links are closed. */
static void fork_child(void) {
    if (mcast.own.fd >= 0) {
        close(mcast.own.fd);
    }
    memset(&mcast, 0, sizeof(mcast));
    mcast.own.fd = -1;
    mcast.timer.fire = retry;
    init_locks();
}

void mcast_init(void) {
    init_locks();
    link_set_handler(MCAST_JOIN, on_join);
    link_set_handler(MCAST_LEAVE, on_leave);
    link_set_handler(MCAST_LOOK, on_look);
    link_set_handler(MCAST_TABLE, on_table);
    link_set_lost_handler(MCAST_TABLE, on_lost_table);
    link_set_handler(MCAST_DONE, on_done);
    link_add_down_handler(on_down);
    pthread_atfork(NULL, NULL, fork_child);
}
