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
/* Checks of mapped memory: see mapped.h. */
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* struct procmap_query and PROCMAP_QUERY of linux/fs.h, copied, as the headers have it from Linux 6.11 on only. */
struct mapping_query {
    uint64_t size, flags, address;
    uint64_t start, end, protection, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};
#define MAPPING_QUERY _IOWR('f', 17, struct mapping_query)
#define MAPPING_READABLE 1u
#define MAPPING_WRITABLE 2u
#define MAPPING_SHARED 8u

/* Limit of mappings to ask about: with more of them side by side, check_pages() is as fast. */
#define MAX_MAPPINGS 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int maps = -1; /* /proc/self/maps */
static bool kept;     /* the descriptor stays open */
static bool unknown;  /* PROCMAP_QUERY is not known to this kernel, or refused by it */

static bool ask(int fd, uintptr_t address, struct mapping_query *query) {
    *query = (struct mapping_query) { .size = sizeof(*query), .address = address };
    return ioctl(fd, MAPPING_QUERY, query) == 0;
}

/* Called with `lock` held. */
static int open_maps(void) {
    struct mapping_query query;
    if (maps < 0 && !unknown) {
        maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
        if (maps >= 0 && !ask(maps, (uintptr_t) &query, &query)) {
            unknown = errno != ENOMEM;
            close(maps);
            maps = -1;
        }
    }
    return maps;
}

/*
 * Returns whether the kernel says that the memory is private, anonymous, readable and writable. Called with `lock`
 * held.
 */
static bool is_plain(uintptr_t from, uintptr_t end) {
    const unsigned wanted = MAPPING_READABLE | MAPPING_WRITABLE;
    struct mapping_query query;
    int fd = open_maps();
    for (int i = 0; fd >= 0 && i < MAX_MAPPINGS && ask(fd, from, &query); i++) {
        bool anonymous = query.inode == 0 && query.major == 0 && query.minor == 0;
        if (!anonymous || (query.protection & (wanted | MAPPING_SHARED)) != wanted) {
            return false;
        }
        if (query.end >= end) {
            return true;
        }
        from = query.end;
    }
    return false;
}

/*
 * Checks that the whole range is mapped (msync does nothing else), its first page readable, and its last one, which is
 * to be written, writable. A page of private memory that is only read is the kernel's page of zeroes, if it has one.
 */
static int check_pages(uintptr_t first, uintptr_t last, uintptr_t page, bool written) {
    if (msync((void *) first, last - first + page, MS_ASYNC) != 0) {
        return EFAULT;
    }
    for (uintptr_t at = first;; at = last) {
        int advice = at == last && written ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
        if (madvise((void *) at, page, advice) != 0) {
            /* Kernels before 5.14, which do not know this advice, also say EINVAL. */
            if (errno != EINVAL || madvise((void *) page, 0, MADV_POPULATE_READ) == 0) {
                return errno == ENOMEM ? ENOMEM : EFAULT;
            }
        }
        if (at == last) {
            return 0;
        }
    }
}

/* Called with `lock` held. */
static void close_unless_kept(void) {
    if (!kept && maps >= 0) {
        close(maps);
        maps = -1;
    }
}

int mapped_check(const void *address, size_t length, bool written) {
    uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE), from = (uintptr_t) address;
    uintptr_t first = from & ~(page - 1), last = (from + length - 1) & ~(page - 1);
    if (length == 0 || from + length < from) {
        return EFAULT;
    }
    pthread_mutex_lock(&lock);
    bool plain = is_plain(from, from + length);
    close_unless_kept();
    pthread_mutex_unlock(&lock);
    return plain ? 0 : check_pages(first, last, page, written);
}

void mapped_keep(bool keep) {
    pthread_mutex_lock(&lock);
    kept = keep;
    close_unless_kept();
    pthread_mutex_unlock(&lock);
}

static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    kept = false;
    if (maps >= 0) {
        close(maps); /* the parent's descriptor tells about the parent */
        maps = -1;
    }
}

void mapped_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
