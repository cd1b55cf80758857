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
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded/base/cancel.h"
#include "embedded/base/epoch.h"
#include "embedded/base/mapped.h"
#include "embedded/base/random.h"

#define REMOTE_CHANGE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define SUPPORTED                                                                                                     \
    (IBV_ACCESS_LOCAL_WRITE | REMOTE_CHANGE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED)

#define BUCKETS (1u << 16)
#define PEER_BUCKETS (1u << 10)

struct mr {
    struct ibv_mr ibv;
    uint8_t *memory;
    uint64_t iova; /* address by which work requests address it */
    struct rdma_peer_memory *peer; /* memory of another device, in place of `memory`, or NULL */
    void *mapping; /* mapping of a file, to be unmapped with the region, or NULL */
    size_t mapping_length;
    int access;
    unsigned windows; /* number of windows that are bound to the region; guarded by `binding` */
    struct mr *_Atomic next;
};

static struct mr *_Atomic buckets[BUCKETS];
static struct mr *_Atomic peer_buckets[PEER_BUCKETS]; /* of memory of other devices */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards changes; readers only enter an epoch */
/*
 * Guards a region against deregistration while a window is bound to it. Queue pairs at work take this lock, so its
 * owner never waits for them. Taken after `lock`.
 */
static pthread_mutex_t binding = PTHREAD_MUTEX_INITIALIZER;

static struct mr *_Atomic *bucket_of(const struct mr *mr) {
    uint32_t key = mr->ibv.lkey;
    return mr->peer == NULL ? &buckets[key % BUCKETS] : &peer_buckets[key % PEER_BUCKETS];
}

static struct mr *find_in(struct mr *_Atomic *bucket, uint32_t key) {
    struct mr *mr = atomic_load(bucket);
    while (mr != NULL && mr->ibv.lkey != key) {
        mr = atomic_load(&mr->next);
    }
    return mr;
}

static struct mr *find(uint32_t key) {
    return find_in(&buckets[key % BUCKETS], key);
}

static struct mr *find_peer(uint32_t key) {
    return find_in(&peer_buckets[key % PEER_BUCKETS], key);
}

static bool covers(const struct mr *mr, const struct ibv_pd *pd, uint64_t address, uint64_t length, int access) {
    if (mr == NULL || !pd_is_same(mr->ibv.pd, pd) || (mr->access & access) != access) {
        return false;
    }
    uint64_t offset = address - mr->iova;
    return address >= mr->iova && length <= mr->ibv.length && offset <= mr->ibv.length - length;
}

static uint8_t *memory_in(const struct mr *mr, const struct ibv_pd *pd, uint64_t address, uint64_t length, int access) {
    return covers(mr, pd, address, length, access) ? mr->memory + (address - mr->iova) : NULL;
}

void *mr_memory(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, int access) {
    return memory_in(find(key), pd, address, length, access);
}

bool mr_peer_range(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, int access,
                   struct peer_range *range) {
    const struct mr *mr = find_peer(key);
    bool covered = covers(mr, pd, address, length, access);
    if (covered) {
        *range = (struct peer_range) { mr->peer, address - mr->iova };
    }
    return covered;
}

struct mr *mr_bind(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, int access,
                   uint8_t **memory) {
    pthread_mutex_lock(&binding);
    struct mr *mr = find(key);
    *memory = memory_in(mr, pd, address, length, access);
    if (*memory == NULL || (mr->access & IBV_ACCESS_ZERO_BASED) != 0) {
        mr = NULL; /* a window has no place in addresses from 0: soft-RoCE and mlx5 refuse it as well */
    } else {
        mr->windows++;
    }
    pthread_mutex_unlock(&binding);
    return mr;
}

void mr_unbind(struct mr *mr) {
    pthread_mutex_lock(&binding);
    mr->windows--;
    pthread_mutex_unlock(&binding);
}

static int random_key(uint32_t *key) {
    int error;
    do {
        error = random_word(key);
        *key &= ~MR_WINDOW_KEY;
    } while (error == 0 && (*key == 0 || find(*key) != NULL || find_peer(*key) != NULL));
    return error;
}

/* Drops flags that a device may ignore. IB specification 10.6.3.1: remote write and atomic access need local write. */
static bool take_access(int *access) {
    *access &= ~IBV_ACCESS_OPTIONAL_RANGE;
    return (*access & ~SUPPORTED) == 0 && ((*access & REMOTE_CHANGE) == 0 || (*access & IBV_ACCESS_LOCAL_WRITE) != 0);
}

/* Returns whether both addresses are at the same place in their pages, as the manual pages and the kernel require. */
static bool is_same_in_page(uint64_t a, uint64_t b) {
    return ((a ^ b) & ((uint64_t) sysconf(_SC_PAGESIZE) - 1)) == 0;
}

static void release(struct mr *mr) {
    int error = errno;
    if (mr->mapping != NULL) {
        munmap(mr->mapping, mr->mapping_length);
    }
    if (mr->peer != NULL) {
        peer_memory_release(mr->peer);
    }
    free(mr);
    errno = error;
}

/* Adds a region, which peers may use from now on. Called with `lock` held. */
static void enlist(struct mr *mr) {
    atomic_store(&mr->next, atomic_load(bucket_of(mr)));
    atomic_store(bucket_of(mr), mr);
}

/* Sets the address of its first byte in work requests, which is `iova` unless they count from 0: ibv_reg_mr(3). */
static void set_iova(struct mr *mr, uint64_t iova) {
    mr->iova = (mr->access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova;
}

/* Publishes a region with a key. Peers may use it from now on. Takes ownership of it, and releases it on failure. */
static struct ibv_mr *publish(struct ibv_pd *pd, struct mr *mr, uint64_t iova, int access) {
    mr->access = mr->peer == NULL ? access : access & ~IBV_ACCESS_REMOTE_ATOMIC; /* clients have no atomics */
    set_iova(mr, iova);
    mr->ibv.context = pd->context;
    mr->ibv.pd = pd;
    pthread_mutex_lock(&lock);
    int error = random_key(&mr->ibv.lkey);
    if (error == 0) {
        mr->ibv.rkey = mr->ibv.lkey;
        mr->ibv.handle = mr->ibv.lkey;
        enlist(mr);
        atomic_fetch_add(&pd_of(pd)->objects, 1);
    }
    pthread_mutex_unlock(&lock);
    if (error != 0) {
        release(mr);
        errno = error;
        return NULL;
    }
    return &mr->ibv;
}

/* Makes a region. Takes ownership of the peer memory, and releases it on failure. NULL: no memory. */
static struct mr *make(void *address, size_t length, struct rdma_peer_memory *peer) {
    struct mr *mr = calloc(1, sizeof(*mr));
    if (mr != NULL) {
        mr->ibv.addr = address;
        mr->ibv.length = length;
        mr->peer = peer;
    } else if (peer != NULL) {
        peer_memory_release(peer);
    }
    return mr;
}

struct ibv_mr *mr_register(struct ibv_pd *pd, void *memory, size_t length, uint64_t iova, int access) {
    UNCANCELLED;
    bool valid = take_access(&access) && is_same_in_page((uintptr_t) memory, iova) && iova + length >= iova;
    int error = context_is_inherited(pd->context) ? EIO : valid && length > 0 ? 0 : EINVAL;
    if (error == 0) {
        /* A device would pin the pages. Here they stay unallocated: receive memory of idle connections is empty. */
        error = mapped_check(memory, length, (access & IBV_ACCESS_LOCAL_WRITE) != 0);
    }
    struct rdma_peer_memory *peer = NULL;
    if (error == EFAULT) {
        error = peer_memory_acquire((uintptr_t) memory, length, access, &peer);
    }
    struct mr *mr = error != 0 ? NULL : make(memory, length, peer);
    if (mr == NULL) {
        errno = error != 0 ? error : ENOMEM;
        return NULL;
    }
    mr->memory = peer == NULL ? memory : NULL;
    return publish(pd, mr, iova, access);
}

struct ibv_mr *embedded_ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access) {
    return mr_register(pd, addr, length, (uintptr_t) addr, access);
}

#define FOREIGN_FILE (-1) /* file that has no seals: it is no memfd, and maybe a client's dma-buf */

/*
 * Checks a file. A dma-buf cannot shrink, so a memfd in place of one must not shrink either. Returns 0, FOREIGN_FILE,
 * or errno.
 */
static int check_file(int fd, uint64_t offset, size_t length) {
    struct stat status;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 && errno == EINVAL) {
        return FOREIGN_FILE;
    }
    if (seals < 0 || fstat(fd, &status) != 0) {
        return errno;
    }
    bool covered = offset <= (uint64_t) status.st_size && length <= (uint64_t) status.st_size - offset;
    return (seals & F_SEAL_SHRINK) != 0 && covered && length > 0 ? 0 : EINVAL;
}

struct ibv_mr *embedded_ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                          int access) {
    UNCANCELLED;
    uint64_t in_page = offset & ((uint64_t) sysconf(_SC_PAGESIZE) - 1);
    bool valid = take_access(&access) && is_same_in_page(offset, iova) && iova + length >= iova;
    int error = context_is_inherited(pd->context) ? EIO : valid ? check_file(fd, offset, length) : EINVAL;
    struct rdma_peer_memory *peer = NULL;
    if (error == FOREIGN_FILE) {
        error = length == 0 ? EINVAL : peer_memory_acquire_dmabuf(fd, offset, length, iova, access, &peer);
    }
    void *address = (void *) (uintptr_t) offset; /* libibverbs sets the same */
    struct mr *mr = error != 0 ? NULL : make(address, length, peer);
    if (mr == NULL) {
        errno = error != 0 ? error : ENOMEM;
        return NULL;
    }
    if (peer != NULL) {
        return publish(pd, mr, iova, access);
    }
    int protection = (access & IBV_ACCESS_LOCAL_WRITE) != 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    mr->mapping_length = in_page + length;
    mr->mapping = mmap(NULL, mr->mapping_length, protection, MAP_SHARED, fd, (off_t) (offset - in_page));
    if (mr->mapping == MAP_FAILED) {
        mr->mapping = NULL;
        release(mr);
        return NULL;
    }
    mr->memory = (uint8_t *) mr->mapping + in_page;
    return publish(pd, mr, iova, access);
}

/*
 * Removes a region, and waits for its users, which do not take the lock. Returns 0, or EBUSY if windows are bound to
 * it: IB specification 11.2.8.5. Called with `lock` held.
 */
static int unlist(struct mr *mr) {
    pthread_mutex_lock(&binding);
    if (mr->windows > 0) {
        pthread_mutex_unlock(&binding);
        return EBUSY;
    }
    struct mr *_Atomic *link = bucket_of(mr);
    while (atomic_load(link) != mr) {
        link = &atomic_load(link)->next;
    }
    atomic_store(link, atomic_load(&mr->next));
    pthread_mutex_unlock(&binding);
    epoch_wait();
    return 0;
}

static int reregister_error(enum ibv_rereg_mr_err_code code, int error) {
    errno = error;
    return code;
}

/* Returns 0 or errno. */
static int check_change(const struct mr *mr, int flags, const struct ibv_pd *pd, const struct mr *changed) {
    bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
    bool written = (changed->access & IBV_ACCESS_LOCAL_WRITE) != 0;
    if (context_is_inherited(mr->ibv.context)) {
        return EIO;
    }
    /* Checks of the kernel: ib_uverbs_rereg_mr(). */
    if (flags == 0 || ((flags & IBV_REREG_MR_CHANGE_PD) != 0 && (pd == NULL || pd->context != mr->ibv.context))
            || changed->iova + changed->ibv.length < changed->iova) {
        return EINVAL;
    }
    bool begins_to_be_written = written && (mr->access & IBV_ACCESS_LOCAL_WRITE) == 0;
    return moves || begins_to_be_written ? mapped_check(changed->memory, changed->ibv.length, written) : 0;
}

/* Returns 0 or errno. */
static int change(struct mr *mr, const struct mr *changed) {
    pthread_mutex_lock(&lock);
    int error = unlist(mr);
    if (error != 0) {
        pthread_mutex_unlock(&lock);
        return error;
    }
    mr->ibv.addr = changed->ibv.addr;
    mr->ibv.length = changed->ibv.length;
    mr->memory = changed->memory;
    mr->iova = changed->iova;
    mr->access = changed->access;
    atomic_fetch_sub(&pd_of(mr->ibv.pd)->objects, 1);
    mr->ibv.pd = changed->ibv.pd;
    atomic_fetch_add(&pd_of(mr->ibv.pd)->objects, 1);
    enlist(mr);
    pthread_mutex_unlock(&lock);
    return 0;
}

int mr_reregister(struct ibv_mr *ibv, int flags, struct ibv_pd *pd, void *memory, size_t length, int access) {
    UNCANCELLED;
    struct mr *mr = (struct mr *) ibv;
    bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
    bool sets_access = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0;
    /* Checks of libibverbs itself, in its order; another mapping would not be of the file, or of the client. */
    if (mr->mapping != NULL || mr->peer != NULL || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0
            || (moves && (length == 0 || memory == NULL)) || (access != 0 && !sets_access)) {
        return reregister_error(IBV_REREG_MR_ERR_INPUT, EINVAL);
    }
    struct mr changed = { .ibv = mr->ibv, .memory = mr->memory, .iova = mr->iova, .access = mr->access };
    if (sets_access && !take_access(&access)) {
        return reregister_error(IBV_REREG_MR_ERR_CMD, EINVAL);
    }
    if (sets_access) {
        changed.access = access;
    }
    if (moves) {
        changed.ibv.addr = memory;
        changed.ibv.length = length;
        changed.memory = memory;
    }
    set_iova(&changed, moves ? (uintptr_t) memory : mr->iova);
    int error = check_change(mr, flags, pd, &changed);
    if (error != 0) {
        return reregister_error(IBV_REREG_MR_ERR_CMD, error);
    }
    if ((flags & IBV_REREG_MR_CHANGE_PD) != 0) {
        changed.ibv.pd = pd;
    }
    error = change(mr, &changed);
    return error == 0 ? 0 : reregister_error(IBV_REREG_MR_ERR_CMD, error);
}

int embedded_ibv_dereg_mr(struct ibv_mr *ibv) {
    UNCANCELLED;
    struct mr *mr = (struct mr *) ibv;
    if (!context_is_inherited(ibv->context)) {
        pthread_mutex_lock(&lock);
        int error = unlist(mr);
        pthread_mutex_unlock(&lock);
        if (error != 0) {
            return error;
        }
    }
    atomic_fetch_sub(&pd_of(ibv->pd)->objects, 1);
    release(mr);
    return 0;
}

static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&binding, NULL);
    memset((void *) buckets, 0, sizeof(buckets)); /* the parent's regions are not the child's */
    memset((void *) peer_buckets, 0, sizeof(peer_buckets));
}

void mr_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
