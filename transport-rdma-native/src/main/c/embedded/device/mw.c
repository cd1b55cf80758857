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
/* Memory windows: see mw.h. */
#include "mw.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/base/backoff.h"
#include "embedded/base/cancel.h"
#include "embedded/base/epoch.h"
#include "embedded/base/random.h"
#include "mr.h"

#define KEY_PART 0xffu /* part of a key that ibv_inc_rkey() changes */
#define BUCKETS (1u << 14)
#define WRITES (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
/* Local write is an access of the region, not of a window. Programs give it anyway, and devices accept it. */
#define SUPPORTED (WRITES | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE)

struct mw {
    struct ibv_mw ibv; /* public part; the application sets its key, which may not be in force yet */
    uint32_t index;    /* upper part of its keys */
    struct mw *_Atomic next;

    /* Fields guarded by the lock, and changed only while the window is neither open nor entered. */
    uint32_t key; /* key of the latest binding */
    int access;
    uint64_t start, length; /* range as requests address it */
    uint8_t *memory;
    struct mr *mr; /* region that the window is bound to, or NULL */
    struct qp *qp; /* type 2: queue pair that the window is bound through */
    struct mw *next_of_qp, **previous;

    atomic_bool open; /* open to the peer */
    atomic_uint users; /* number of users that have entered, or are about to find out that they may not */
};

static struct mw *_Atomic buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards changes; taken before the regions' lock */
static uint32_t count;

static struct mw *_Atomic *bucket_of(uint32_t key) {
    return &buckets[(key >> 8) % BUCKETS];
}

static struct mw *find(uint32_t key) {
    struct mw *mw = atomic_load(bucket_of(key));
    while (mw != NULL && mw->index != (key & ~KEY_PART)) {
        mw = atomic_load(&mw->next);
    }
    return mw;
}

/* ---- access ---- */

void mw_leave(struct mw *entered) {
    if (entered != NULL) {
        atomic_fetch_sub(&entered->users, 1);
    }
}

static uint8_t *within(const struct qp *qp, const struct mw *mw, uint32_t key, uint64_t address, uint64_t length,
                       int access) {
    if (mw->key != key || !pd_is_same(mw->ibv.pd, qp->ibv.pd) || (mw->ibv.type == IBV_MW_TYPE_2 && mw->qp != qp)
            || (mw->access & access) != access) {
        return NULL;
    }
    uint64_t offset = address - mw->start;
    bool covered = address >= mw->start && length <= mw->length && offset <= mw->length - length;
    return covered ? mw->memory + offset : NULL;
}

void *mw_enter(const struct qp *qp, uint32_t key, uint64_t address, uint64_t length, int access, struct mw **entered) {
    *entered = NULL;
    if ((key & MR_WINDOW_KEY) == 0) {
        return mr_memory(qp->ibv.pd, key, address, length, access);
    }
    struct mw *mw = find(key);
    if (mw == NULL) {
        return NULL;
    }
    atomic_fetch_add(&mw->users, 1); /* counted before `open` is read; withdraw() clears `open` before it reads this */
    void *memory = atomic_load(&mw->open) ? within(qp, mw, key, address, length, access) : NULL;
    if (memory == NULL) {
        mw_leave(mw);
    } else {
        *entered = mw;
    }
    return memory;
}

bool mw_allows(const struct qp *qp, uint32_t key, uint64_t address, uint64_t length, int access) {
    struct mw *entered;
    struct peer_range range;
    bool allowed = mw_enter(qp, key, address, length, access, &entered) != NULL;
    mw_leave(entered);
    return allowed || mr_peer_range(qp->ibv.pd, key, address, length, access, &range);
}

/* ---- changes, all called with `lock` held ---- */

/* Closes the window. When it returns, no access to the range goes on. */
static void withdraw(struct mw *mw) {
    atomic_store(&mw->open, false);
    for (unsigned turn = 0; atomic_load(&mw->users) != 0;) {
        backoff(&turn); /* short wait, for one copy of a piece of a message: users that have entered wait for nothing */
    }
    if (mw->mr != NULL) {
        mr_unbind(mw->mr);
        mw->mr = NULL;
    }
    if (mw->qp != NULL) {
        mw->qp = NULL;
        *mw->previous = mw->next_of_qp;
        if (mw->next_of_qp != NULL) {
            mw->next_of_qp->previous = mw->previous;
        }
    }
}

static void give_to(struct mw *mw, struct qp *qp) {
    mw->qp = qp;
    mw->next_of_qp = qp->windows;
    mw->previous = &qp->windows;
    if (mw->next_of_qp != NULL) {
        mw->next_of_qp->previous = &mw->next_of_qp;
    }
    qp->windows = mw;
}

/* Binds a window. The ranges it may have do not depend on its type: IB specification 10.6.7.2.3. */
static bool bind_to(struct mw *mw, struct qp *qp, const struct send_wqe *wqe) {
    int access = (int) wqe->window_access;
    bool is_type_2 = mw->ibv.type == IBV_MW_TYPE_2;
    if (!pd_is_same(mw->ibv.pd, qp->ibv.pd) || (access & ~SUPPORTED) != 0) {
        return false;
    }
    if (is_type_2 ? mw->mr != NULL || wqe->window_length == 0 : (access & IBV_ACCESS_ZERO_BASED) != 0) {
        return false; /* type 2 must be invalidated first, which a binding to nothing does not do */
    }
    struct mr *mr = NULL;
    uint8_t *memory = NULL;
    if (wqe->window_length != 0) {
        int needed = IBV_ACCESS_MW_BIND | ((access & WRITES) != 0 ? IBV_ACCESS_LOCAL_WRITE : 0);
        mr = mr_bind(qp->ibv.pd, wqe->window_region, wqe->window_address, wqe->window_length, needed, &memory);
        if (mr == NULL) {
            return false;
        }
    }
    withdraw(mw);
    mw->key = wqe->window_key;
    mw->access = access & ~(IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE);
    mw->start = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : wqe->window_address;
    mw->length = wqe->window_length;
    mw->memory = memory;
    mw->mr = mr;
    if (is_type_2) {
        give_to(mw, qp);
    }
    atomic_store(&mw->open, mr != NULL);
    return true;
}

bool mw_carry_out_bind(struct qp *qp, const struct send_wqe *wqe) {
    pthread_mutex_lock(&lock);
    struct mw *mw = find(wqe->window_key); /* NULL: the window was deallocated after the post */
    bool bound = mw != NULL && bind_to(mw, qp, wqe);
    pthread_mutex_unlock(&lock);
    return bound;
}

bool mw_invalidate(const struct qp *qp, uint32_t key) {
    pthread_mutex_lock(&lock);
    struct mw *mw = (key & MR_WINDOW_KEY) == 0 ? NULL : find(key);
    /*
     * A window that is free already stays free, because the peer may be faster than the owner. o10-37.2.26: a type 1
     * window is unbound by binding it to nothing.
     */
    bool valid = mw != NULL && mw->ibv.type == IBV_MW_TYPE_2 && mw->key == key && pd_is_same(mw->ibv.pd, qp->ibv.pd)
            && (mw->qp == NULL || mw->qp == qp);
    if (valid) {
        withdraw(mw);
    }
    pthread_mutex_unlock(&lock);
    return valid;
}

void mw_close_all(struct qp *qp) {
    pthread_mutex_lock(&lock);
    while (qp->windows != NULL) {
        withdraw(qp->windows);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- posting ---- */

int mw_fill_bind(const struct ibv_send_wr *wr, struct send_wqe *wqe) {
    const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
    if (wr->bind_mw.mw == NULL || (info->mr == NULL && info->length != 0)) {
        return EINVAL;
    }
    wqe->window_key = ((const struct mw *) wr->bind_mw.mw)->index | (wr->bind_mw.rkey & KEY_PART);
    wqe->window_address = info->addr;
    wqe->window_length = info->length;
    wqe->window_region = info->mr == NULL ? 0 : info->mr->lkey;
    wqe->window_access = info->mw_access_flags;
    return 0;
}

int mw_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind) {
    struct ibv_send_wr wr = {
        .wr_id = bind->wr_id,
        .opcode = IBV_WR_BIND_MW,
        .send_flags = bind->send_flags,
        .bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = bind->bind_info },
    }, *bad;
    if ((bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0) {
        return EINVAL; /* o10-36.2.2 */
    }
    int error = qp->context->ops.post_send(qp, &wr, &bad);
    if (error == 0) {
        mw->rkey = wr.bind_mw.rkey; /* ibv_bind_mw(3) */
    }
    return error;
}

/* ---- life ---- */

/* Chooses a key. Called with `lock` held. Returns 0 or errno. */
static int choose_key(struct mw *mw) {
    int error;
    if (count == DEVICE_MAX_MW) {
        return ENOMEM;
    }
    do {
        error = random_word(&mw->key);
        mw->key |= MR_WINDOW_KEY;
    } while (error == 0 && find(mw->key) != NULL);
    return error;
}

struct ibv_mw *mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type) {
    UNCANCELLED;
    bool valid = type == IBV_MW_TYPE_1 || type == IBV_MW_TYPE_2;
    int error = context_is_inherited(pd->context) ? EIO : valid ? 0 : EINVAL;
    struct mw *mw = error != 0 ? NULL : calloc(1, sizeof(*mw));
    if (mw == NULL) {
        errno = error != 0 ? error : ENOMEM;
        return NULL;
    }
    mw->ibv = (struct ibv_mw) { .context = pd->context, .pd = pd, .type = type };
    pthread_mutex_lock(&lock);
    error = choose_key(mw);
    if (error == 0) {
        count++;
        mw->index = mw->ibv.handle = mw->key & ~KEY_PART;
        mw->ibv.rkey = mw->key;
        atomic_init(&mw->next, atomic_load(bucket_of(mw->key)));
        atomic_store(bucket_of(mw->key), mw);
        atomic_fetch_add(&pd_of(pd)->objects, 1);
    }
    pthread_mutex_unlock(&lock);
    if (error != 0) {
        free(mw);
        errno = error;
        return NULL;
    }
    return &mw->ibv;
}

static void unlist(struct mw *mw) {
    pthread_mutex_lock(&lock);
    withdraw(mw);
    struct mw *_Atomic *link = bucket_of(mw->index);
    while (atomic_load(link) != mw) {
        link = &atomic_load(link)->next;
    }
    atomic_store(link, atomic_load(&mw->next));
    count--;
    pthread_mutex_unlock(&lock);
    epoch_wait();
}

/* Deallocates a window, bound or not: IB specification 10.6.7.2.5. */
int mw_dealloc(struct ibv_mw *ibv) {
    UNCANCELLED;
    struct mw *mw = (struct mw *) ibv;
    if (!context_is_inherited(ibv->context)) {
        unlist(mw);
    }
    atomic_fetch_sub(&pd_of(ibv->pd)->objects, 1);
    free(mw);
    return 0;
}

static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    memset((void *) buckets, 0, sizeof(buckets)); /* the parent's windows are not the child's */
    count = 0;
}

void mw_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
