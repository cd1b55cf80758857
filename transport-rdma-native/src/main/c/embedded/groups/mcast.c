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
 * `mcast.lock` is taken inside gates, and before the locks of links and of members' owners (`done`). No thread waits
 * for a gate while it holds this lock. Senders own a gate, so they leave the end of members to the timer.
 */
#include "mcast.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "embedded/base/closer.h"
#include "embedded/base/sealed.h"
#include "embedded/link/engine.h"
#include "embedded/link/link.h"
#include "mcast_table.h"

#define PORT ((uint16_t) link_version) /* one for each version, because processes of different versions have no link */

#define MAX_QPN 0xffffffu

#define PATIENCE_NS UINT64_C(2000000000)      /* time for which a member waits for the administrator's answer */
#define LOOK_PATIENCE_NS UINT64_C(1000000000) /* time for which senders wait for the table */
#define RETRY_NS UINT64_C(2000000)

/*
 * Time for which this process remembers that another user holds the name, because each try costs some system calls
 * under locks. A member that has lost its administrator tries again as often, also after other errors.
 */
#define REFUSED_NS UINT64_C(1000000000)

/*
 * Messages. Clients send JOIN, LEAVE, and LOOK, which asks for the table without joining. The administrator sends TABLE
 * (after JOIN and LOOK) and DONE.
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

static void on_timer(struct engine_timer *timer);

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct mcast_table *table; /* table; NULL: not known */
    uint64_t era;                    /* number of tables so far */
    uint64_t unknown_since_ns;       /* time since which no sender has found the members; 0: the last one has */
    struct mcast_member *members;    /* members of this process, and those that ask */
    uint32_t last_cookie;
    struct engine_timer timer;       /* timer for the next look at the members */
    uint64_t refused_until_ns;       /* time before which the administrator is not looked for */
    int refusal;                     /* error of the last time */

    struct link *link; /* link to the administrator, if that is another process */
    bool table_lost;   /* ask again: the table did not come or was not asked for, for lack of descriptors or memory */

    /* Fields of the administrator: */
    struct link_port *port;
    struct mcast_registry own;
} mcast = { .lock = PTHREAD_MUTEX_INITIALIZER, .own = { .fd = -1 }, .timer = { .fire = on_timer } };

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
    return 0;
}

static void look_at_members_soon(void) {
    if (mcast.members != NULL) {
        engine_timer_set(&mcast.timer, engine_now_ns());
    }
}

static void forget_administrator(void) {
    if (mcast.table != NULL) {
        closer_unmap(mcast.table, sizeof(*mcast.table));
        mcast.table = NULL;
    }
    link_put(mcast.link);
    mcast.link = NULL;
    mcast.table_lost = false;
    for (struct mcast_member *member = mcast.members; member != NULL; member = member->next) {
        member->told = false;
    }
    look_at_members_soon();
}

static bool is_temporary(int error) {
    return error == ECONNREFUSED || error == EAGAIN || error == EPIPE;
}

static int look_for_table(void) {
    int error = link_send(mcast.link, MCAST_LOOK, NULL, 0, NULL, 0);
    mcast.table_lost = error != 0;
    return error;
}

static int look_for_administrator(void) {
    int error = link_bind_port(LINK_COMMON, PORT, &mcast.port);
    if (error == 0) {
        return become_administrator();
    }
    if (error == EADDRINUSE) {
        error = link_connect_port(LINK_COMMON, PORT, true, &mcast.link);
        if (error == 0) {
            error = look_for_table();
        }
    }
    return error;
}

/*
 * Reaches the administrator. Returns 0 or errno. ECONNREFUSED, EAGAIN and EPIPE: the administrator is just starting or
 * ending.
 */
static int reach(void) {
    if (mcast.link != NULL && !link_is_up(mcast.link)) {
        forget_administrator();
    }
    if (mcast.link != NULL && mcast.table_lost) {
        return look_for_table();
    }
    if (mcast.port != NULL || mcast.link != NULL) {
        return 0;
    }
    if (engine_now_ns() < mcast.refused_until_ns) {
        return mcast.refusal;
    }
    int error = look_for_administrator();
    if (error == 0) {
        look_at_members_soon();
    } else if (error == EACCES || is_temporary(error)) {
        mcast.refusal = error;
        mcast.refused_until_ns = engine_now_ns() + (error == EACCES ? REFUSED_NS : RETRY_NS);
    }
    return error;
}

/* ---- members of this process; called with mcast.lock held ---- */

static bool is_same(const struct mcast_member *a, const struct mcast_member *b) {
    return a->qpn == b->qpn && memcmp(&a->gid, &b->gid, sizeof(a->gid)) == 0;
}

/* Returns another member of the same group and queue pair, in that state or a later one. */
static const struct mcast_member *find_same(const struct mcast_member *member, int state) {
    const struct mcast_member *other = mcast.members;
    while (other != NULL && (other == member || (int) other->state < state || !is_same(other, member))) {
        other = other->next;
    }
    return other;
}

static int send_about(const struct mcast_member *member, enum mcast_message type, uint32_t cookie) {
    const struct mcast_request request = { .gid = member->gid, .qpn = member->qpn, .cookie = cookie };
    return link_send(mcast.link, type, &request, sizeof(request), NULL, 0);
}

/*
 * Removes a member from the list, and from the administrator's table unless another member needs that entry. The
 * administrator handles an unanswered request to join first. The result does not matter, because an entry that stays
 * leads to a queue pair that refuses the group's datagrams.
 */
static void drop(struct mcast_member *member) {
    struct mcast_member **link = &mcast.members;
    while (*link != NULL && *link != member) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        return;
    }
    *link = member->next;
    member->state = MCAST_NO_MEMBER;
    if (member->told && find_same(member, MCAST_ASKING) == NULL) {
        if (mcast.port != NULL) {
            mcast_registry_remove(&mcast.own, NULL, &member->gid, member->qpn);
        } else {
            send_about(member, MCAST_LEAVE, 0);
        }
    }
}

/* Ends the asking. */
static void finish(struct mcast_member *member, int error) {
    member->error = error;
    if (error == 0) {
        member->state = MCAST_JOINED;
    } else {
        drop(member);
    }
    if (member->done != NULL) {
        member->done(member, error);
    }
    pthread_cond_broadcast(&mcast.changed);
}

/* Tells the administrator. Returns 0, or errno if it could not be told. */
static int tell(struct mcast_member *member) {
    bool asks = member->state == MCAST_ASKING;
    int error;
    if (mcast.port == NULL) {
        error = send_about(member, MCAST_JOIN, asks ? member->cookie : 0);
        member->told = error == 0;
        return error;
    }
    error = mcast_registry_add(&mcast.own, NULL, &member->gid, member->qpn);
    member->told = true;
    if (asks) {
        finish(member, error);
    }
    return 0;
}

/* Brings each member as far as possible, and sets the timer for the rest. */
static void look_at_members(void) {
    int error = reach();
    uint64_t next_ns = UINT64_MAX;
    for (struct mcast_member *member = mcast.members, *next; member != NULL; member = next) {
        next = member->next;
        if (error == 0 && !member->told) {
            error = tell(member);
        }
        uint64_t now_ns = engine_now_ns(), at_ns = UINT64_MAX;
        if (member->state == MCAST_ASKING && error != 0 && !is_temporary(error)) {
            finish(member, error);
        } else if (member->state == MCAST_ASKING && now_ns >= member->deadline_ns) {
            finish(member, ETIMEDOUT);
        } else if (member->state != MCAST_NO_MEMBER && !member->told) {
            at_ns = now_ns + (is_temporary(error) ? RETRY_NS : REFUSED_NS);
        } else if (member->state == MCAST_ASKING) {
            at_ns = member->deadline_ns;
        }
        next_ns = at_ns < next_ns ? at_ns : next_ns;
    }
    if (next_ns != UINT64_MAX) {
        engine_timer_set(&mcast.timer, next_ns);
    }
}

static void on_timer(struct engine_timer *timer) {
    (void) timer;
    pthread_mutex_lock(&mcast.lock);
    if (mcast.members != NULL) {
        look_at_members();
    }
    pthread_mutex_unlock(&mcast.lock);
}

static void wait_until(uint64_t time_ns) {
    const struct timespec at = { (time_t) (time_ns / 1000000000), (long) (time_ns % 1000000000) };
    pthread_cond_timedwait(&mcast.changed, &mcast.lock, &at);
}

static void ask(struct mcast_member *member) {
    do {
        member->cookie = ++mcast.last_cookie;
    } while (member->cookie == 0);
    member->deadline_ns = engine_now_ns() + PATIENCE_NS;
    member->told = false;
    member->state = MCAST_ASKING;
    member->next = mcast.members;
    mcast.members = member;
    const struct mcast_member *same = find_same(member, MCAST_JOINED);
    if (same != NULL) {
        member->told = same->told;
        finish(member, 0);
    } else {
        look_at_members();
    }
}

void mcast_ask(struct mcast_member *member) {
    pthread_mutex_lock(&mcast.lock);
    ask(member);
    pthread_mutex_unlock(&mcast.lock);
}

int mcast_join(struct mcast_member *member) {
    pthread_mutex_lock(&mcast.lock);
    ask(member);
    while (member->state == MCAST_ASKING) {
        if (engine_now_ns() >= member->deadline_ns) {
            finish(member, ETIMEDOUT);
        } else {
            wait_until(member->deadline_ns);
        }
    }
    int error = member->error;
    pthread_mutex_unlock(&mcast.lock);
    return error;
}

void mcast_leave(struct mcast_member *member) {
    pthread_mutex_lock(&mcast.lock);
    drop(member);
    pthread_mutex_unlock(&mcast.lock);
}

void mcast_rest(void) {
    pthread_mutex_lock(&mcast.lock);
    mcast.unknown_since_ns = mcast.members == NULL ? 0 : mcast.unknown_since_ns;
    if (mcast.members == NULL && mcast.port != NULL) {
        link_unbind_port(mcast.port);
        mcast.port = NULL;
        mcast.table = NULL;
        mcast_registry_close(&mcast.own);
    } else if (mcast.members == NULL && mcast.link != NULL) {
        forget_administrator();
    }
    pthread_mutex_unlock(&mcast.lock);
}

/* ---- senders ---- */

static bool find_members(const union ibv_gid *gid, struct mcast_members *members) {
    if (mcast.table == NULL) {
        return false;
    }
    if (members->era == mcast.era && members->generation == atomic_load(&mcast.table->generation)
            && memcmp(&members->gid, gid, sizeof(*gid)) == 0) {
        return true;
    }
    members->gid = *gid;
    bool known = mcast_table_read(mcast.table, members);
    members->era = known ? mcast.era : 0;
    return known;
}

/* Returns whether senders must not wait for the table any longer. */
static bool is_given_up(int error) {
    uint64_t now_ns = engine_now_ns();
    if (mcast.unknown_since_ns == 0) {
        mcast.unknown_since_ns = now_ns;
    }
    return error == EACCES || now_ns - mcast.unknown_since_ns >= LOOK_PATIENCE_NS;
}

bool mcast_find_members(const union ibv_gid *gid, struct mcast_members *members) {
    pthread_mutex_lock(&mcast.lock);
    int error = reach();
    bool known = error == 0 && find_members(gid, members);
    if (known) {
        mcast.unknown_since_ns = 0;
    } else if (is_given_up(error)) {
        members->count = 0;
        members->era = 0;
        known = true;
    }
    pthread_mutex_unlock(&mcast.lock);
    return known;
}

/* ---- messages, on the engine thread ---- */

static void answer(struct link *link, const struct mcast_request *request, int error) {
    if (request->cookie != 0) {
        const struct mcast_answer message = { .cookie = request->cookie, .error = (uint32_t) error };
        link_send(link, MCAST_DONE, &message, sizeof(message), NULL, 0);
    }
}

static bool on_request(struct link *link, const struct link_message *incoming, bool join) {
    const struct mcast_request *request = link_body(incoming, sizeof(*request));
    if (request == NULL || request->gid.raw[0] != 0xff || request->qpn > MAX_QPN) {
        return false;
    }
    pthread_mutex_lock(&mcast.lock);
    bool valid = mcast.own.table != NULL;
    if (valid && join) {
        answer(link, request, mcast_registry_add(&mcast.own, link, &request->gid, request->qpn));
    } else if (valid) {
        mcast_registry_remove(&mcast.own, link, &request->gid, request->qpn);
        answer(link, request, 0);
    }
    pthread_mutex_unlock(&mcast.lock);
    return valid;
}

static bool on_join(struct link *link, const struct link_message *incoming) {
    return on_request(link, incoming, true);
}

static bool on_leave(struct link *link, const struct link_message *incoming) {
    return on_request(link, incoming, false);
}

static bool on_look(struct link *link, const struct link_message *incoming) {
    pthread_mutex_lock(&mcast.lock);
    bool valid = link_body(incoming, 0) != NULL && mcast.own.table != NULL;
    if (valid) {
        link_send(link, MCAST_TABLE, NULL, 0, &mcast.own.fd, 1);
    }
    pthread_mutex_unlock(&mcast.lock);
    return valid;
}

static bool on_table(struct link *link, const struct link_message *incoming) {
    bool valid = incoming->length == 0 && incoming->nfds == 1;
    pthread_mutex_lock(&mcast.lock);
    if (valid && link == mcast.link && mcast.table == NULL) {
        mcast.table = sealed_map(incoming->fds[0], sizeof(*mcast.table));
        mcast.era++;
        valid = mcast.table != NULL; /* without memory the link is closed, and made again when it is needed */
    }
    pthread_mutex_unlock(&mcast.lock);
    return valid;
}

static bool on_lost_table(struct link *link, const struct link_message *incoming) {
    (void) incoming;
    pthread_mutex_lock(&mcast.lock);
    mcast.table_lost |= link == mcast.link && mcast.table == NULL;
    pthread_mutex_unlock(&mcast.lock);
    return true;
}

static bool on_done(struct link *link, const struct link_message *incoming) {
    const struct mcast_answer *message = link_body(incoming, sizeof(*message));
    if (message == NULL) {
        return false;
    }
    pthread_mutex_lock(&mcast.lock);
    struct mcast_member *member = link == mcast.link ? mcast.members : NULL;
    while (member != NULL && (member->state != MCAST_ASKING || !member->told || member->cookie != message->cookie)) {
        member = member->next;
    }
    if (member != NULL) {
        finish(member, message->error == 0 ? 0 : ENOMEM);
        engine_timer_set(&mcast.timer, engine_now_ns()); /* a timer without use would keep the engine */
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
    mcast.timer.fire = on_timer;
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
