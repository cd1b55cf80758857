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
/* Memory regions: see mr.h. */
#include "mr.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "epoch.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

#define REMOTE_CHANGE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define SUPPORTED (IBV_ACCESS_LOCAL_WRITE | REMOTE_CHANGE | IBV_ACCESS_REMOTE_READ)

#define BUCKETS (1u << 16)

struct mr {
    struct ibv_mr ibv;
    int access;
    struct mr *_Atomic next;
};

static struct mr *_Atomic buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of changes; readers only enter an epoch */

static struct mr *_Atomic *bucket_of(uint32_t key) {
    return &buckets[key % BUCKETS];
}

static struct mr *find(uint32_t key) {
    struct mr *mr = atomic_load(bucket_of(key));
    while (mr != NULL && mr->ibv.lkey != key) {
        mr = atomic_load(&mr->next);
    }
    return mr;
}

bool mr_allows(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, int access) {
    const struct mr *mr = find(key);
    if (mr == NULL || mr->ibv.pd != pd || (mr->access & access) != access) {
        return false;
    }
    uint64_t start = (uintptr_t) mr->ibv.addr;
    return address >= start && length <= mr->ibv.length && address - start <= mr->ibv.length - length;
}

/*
 * A real device pins the pages and so finds out whether they exist and may be written. Here the whole range must be
 * mapped (msync does nothing else), and its ends must be readable or writable; the pages between are not touched.
 */
static int check_memory(void *addr, size_t length, int access) {
    uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t) addr & ~(page - 1);
    uintptr_t last = ((uintptr_t) addr + length - 1) & ~(page - 1);
    if (length == 0 || last < first) {
        return EINVAL;
    }
    if (msync((void *) first, last - first + page, MS_ASYNC) != 0) {
        return EFAULT;
    }
    int advice = (access & IBV_ACCESS_LOCAL_WRITE) != 0 ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
    for (uintptr_t at = first;; at = last) {
        if (madvise((void *) at, page, advice) != 0) {
            /* EINVAL is also what kernels before 5.14 say, who do not know this advice. */
            if (errno != EINVAL || madvise((void *) page, 0, MADV_POPULATE_READ) == 0) {
                return errno == ENOMEM ? ENOMEM : EFAULT;
            }
        }
        if (at == last) {
            return 0;
        }
    }
}

static int random_key(uint32_t *key) {
    do {
        if (getrandom(key, sizeof(*key), 0) != sizeof(*key)) {
            return errno;
        }
    } while (*key == 0 || find(*key) != NULL);
    return 0;
}

struct ibv_mr *embedded_ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access) {
    access &= ~IBV_ACCESS_OPTIONAL_RANGE;
    /* IB specification 10.6.3.1: remote write and atomic access need local write. */
    if ((access & ~SUPPORTED) != 0 || ((access & REMOTE_CHANGE) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)) {
        errno = EINVAL;
        return NULL;
    }
    int error = check_memory(addr, length, access);
    struct mr *mr = error != 0 ? NULL : calloc(1, sizeof(*mr));
    if (mr == NULL) {
        errno = error != 0 ? error : ENOMEM;
        return NULL;
    }
    mr->ibv.context = pd->context;
    mr->ibv.pd = pd;
    mr->ibv.addr = addr;
    mr->ibv.length = length;
    mr->access = access;
    pthread_mutex_lock(&lock);
    error = random_key(&mr->ibv.lkey);
    if (error == 0) {
        mr->ibv.rkey = mr->ibv.lkey;
        mr->ibv.handle = mr->ibv.lkey;
        atomic_init(&mr->next, atomic_load(bucket_of(mr->ibv.lkey)));
        atomic_store(bucket_of(mr->ibv.lkey), mr);
        atomic_fetch_add(&pd_of(pd)->objects, 1);
    }
    pthread_mutex_unlock(&lock);
    if (error != 0) {
        free(mr);
        errno = error;
        return NULL;
    }
    return &mr->ibv;
}

int embedded_ibv_dereg_mr(struct ibv_mr *ibv) {
    struct mr *mr = (struct mr *) ibv;
    pthread_mutex_lock(&lock);
    struct mr *_Atomic *link = bucket_of(ibv->lkey);
    while (atomic_load(link) != mr) {
        link = &atomic_load(link)->next;
    }
    atomic_store(link, atomic_load(&mr->next));
    pthread_mutex_unlock(&lock);
    epoch_wait();
    atomic_fetch_sub(&pd_of(ibv->pd)->objects, 1);
    free(mr);
    return 0;
}

static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    memset((void *) buckets, 0, sizeof(buckets)); /* the parent's regions are not the child's */
}

__attribute__((constructor)) static void init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
