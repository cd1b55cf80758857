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
/* Checks whether memory of this process is mapped and may be written, which a device finds out when it pins pages. */
#ifndef NETTY_RDMA_EMBEDDED_MAPPED_H
#define NETTY_RDMA_EMBEDDED_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

void mapped_init(void);

/* Sets whether the descriptor for the checks stays open between checks. Initially it does not. Any thread. */
void mapped_keep(bool keep);

/*
 * Checks a range. Returns 0, EFAULT, or ENOMEM. Allocates no memory if the kernel can tell: Linux 6.11 and later,
 * anonymous memory that is not shared. Otherwise the check allocates the last page if the range is to be written. It
 * reads the first page, which allocates that page if the memory is shared or the kernel has no page of zeroes.
 */
int mapped_check(const void *address, size_t length, bool written);

#endif
