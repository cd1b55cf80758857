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
 * Shared memory with one writer: a memfd sealed with F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE. The maker keeps
 * a writable mapping; all others can map the file only read-only (fcntl(2), F_SEAL_FUTURE_WRITE). Without the shrink
 * seal a peer could truncate the file, and the reader would get SIGBUS.
 */
#ifndef NETTY_RDMA_EMBEDDED_SEALED_H
#define NETTY_RDMA_EMBEDDED_SEALED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Checks the limit of file sizes (RLIMIT_FSIZE), which applies to memfds as well (inode_newsize_ok() in the kernel's
 * fs/attr.c). A process that exceeds it gets SIGXFSZ, which ends a program. No other kind of memory can be shared
 * with peers and sealed. Returns 0, or EFBIG and the reason, unless reason_size is 0.
 */
int sealed_is_allowed(size_t size, char *reason, size_t reason_size);

/* Makes zeroed memory; *address is the writable mapping. Returns the descriptor (CLOEXEC) or -1 with errno. */
int sealed_create(const char *name, size_t size, void **address);

/* Returns whether a descriptor refers to a file in memory, whose system calls never wait for a process. */
bool sealed_can_be(int fd);

/*
 * Maps a peer's memory read-only after checking seals and size. Returns NULL with errno on failure. The caller keeps
 * the descriptor.
 */
const void *sealed_map(int fd, size_t size);

#endif
