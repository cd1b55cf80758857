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
/* Shared memory with one writer: see sealed.h. */
#include "sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE)

int sealed_is_allowed(size_t size, char *reason, size_t reason_size) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur) {
        return 0;
    }
    snprintf(reason, reason_size,
             "shared memory takes %zu bytes in one piece, and this process may make files of %llu bytes only "
             "(RLIMIT_FSIZE), which counts for shared memory: raise the limit (ulimit -f unlimited, or "
             "LimitFSIZE=infinity in a systemd unit)", size, (unsigned long long) limit.rlim_cur);
    return EFBIG;
}

int sealed_create(const char *name, size_t size, void **address) {
    if (sealed_is_allowed(size, NULL, 0) != 0) {
        errno = EFBIG;
        return -1;
    }
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        return -1;
    }
    void *memory = MAP_FAILED;
    if (ftruncate(fd, (off_t) size) == 0) {
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    }
    if (memory == MAP_FAILED || fcntl(fd, F_ADD_SEALS, SEALS) != 0) {
        int error = errno;
        if (memory != MAP_FAILED) {
            munmap(memory, size);
        }
        close(fd);
        errno = error;
        return -1;
    }
    madvise(memory, size, MADV_DONTFORK); /* a forked child that wrote it would speak in our name */
    *address = memory;
    return fd;
}

bool sealed_can_be(int fd) {
    return fcntl(fd, F_GET_SEALS) >= 0;
}

const void *sealed_map(int fd, size_t size) {
    struct stat status;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || fstat(fd, &status) != 0) {
        return NULL;
    }
    if ((seals & SEALS) != SEALS || status.st_size < 0 || (size_t) status.st_size != size) {
        errno = EPROTO;
        return NULL;
    }
    void *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    madvise(memory, size, MADV_DONTFORK); /* a child would otherwise keep the pages of peers that have gone */
    return memory;
}
