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
 * Copies from and to memory of the application, and the atomic operations on it.
 *
 * An application may unmap memory that it has registered, or truncate the file behind it. A device holds the pages, and
 * continues with memory that no process sees any more. Here the copy faults on the thread that makes it. The function
 * then returns false, and the request fails instead of the process. A handler of SIGSEGV and SIGBUS recognizes such
 * faults by the address of the instruction, so copies without a fault are not slower. The handler passes all other
 * faults to the handler that was installed before, in a Java virtual machine the JVM's. A handler that is installed
 * later must pass faults to this one, which sigaction(2) returns to it; else it gets the faults of these functions as
 * well. On a thread that blocks the two signals the kernel ends the process at a fault.
 *
 * The functions write each byte once, the last bytes last, and aligned words whole. So a program that waits for the
 * last byte of a message to change then finds the whole message, and may change that byte itself.
 */
#ifndef NETTY_RDMA_EMBEDDED_COPY_H
#define NETTY_RDMA_EMBEDDED_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Installs the handlers, once a process. Returns 0 or errno. */
int copy_catch_faults(void);

/*
 * Copies memory of the application. Returns false after a fault, when a part may have been copied; so do the functions
 * below.
 */
bool copy_memory(void *to, const void *from, size_t length);

/*
 * Copies to memory past the cache (store_policy.h). Does the same as copy_memory() if the processor has no such stores,
 * for addresses that are not multiples of 16, and for less than 4 KiB, for which the fence of such stores costs more
 * than they save.
 */
bool copy_past_cache(void *to, const void *from, size_t length);

#ifdef __SANITIZE_ADDRESS__ /* AddressSanitizer does not see into assembly, but can be asked */
void __asan_loadN(void *address, long length);
void __asan_storeN(void *address, long length);
#define copy_checked_(function, to, from, length)                                                                     \
    (__asan_loadN((void *) (from), length), __asan_storeN((void *) (to), length), (function)(to, from, length))
#define copy_memory(to, from, length) copy_checked_(copy_memory, to, from, length)
#define copy_past_cache(to, from, length) copy_checked_(copy_past_cache, to, from, length)
#endif

/* Adds atomically to an aligned target. *before becomes the old value. */
bool copy_fetch_add(void *target, uint64_t add, uint64_t *before);
/* Compares with *before, and swaps if equal. *before becomes the old value. */
bool copy_compare_swap(void *target, uint64_t *before, uint64_t desired);

#endif
