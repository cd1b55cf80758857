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
 * Common part of the fuzz targets: their input, the memory that the provider maps, and the end of a run, after which
 * nothing may be left. A target plays the peer as the input says, against the real provider in the same process and on
 * the same thread. The input is a program: commands with their arguments, read from the front; behind its end all is
 * zero.
 */
#ifndef NETTY_RDMA_FUZZ_FUZZ_H
#define NETTY_RDMA_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- input ---- */

void input_open(const uint8_t *data, size_t size);
bool input_left(void);
uint8_t input_u8(void);
uint16_t input_u16(void);
uint32_t input_u32(void);
uint64_t input_u64(void);

/* A length: mostly small, and near the limits of what there is up to 1 GiB. Two bytes. */
uint32_t input_length(void);

/* Writes into a structure that is not empty: a count, and for each of so many a width, the index of the field of this
 * width, and a value. */
void input_patch(void *bytes, size_t size);

/* ---- descriptors, memory and names ---- */

void set_non_blocking(int fd);

/*
 * Returns the number of mappings of shared memory by the provider. Each has 8 GiB beside it that nobody may touch, so
 * that an access beyond its ends is found; the sanitizers know nothing of mappings.
 */
unsigned guarded_mappings(void);

/* Abstract socket names get the number of this process, so that targets and tests beside each other don't meet. */

/* ---- a run ---- */

/*
 * Ends a run, when the victim's objects are destroyed and the peer has gone: passes the time in which the provider
 * forgets, and checks that there are as many descriptors, mappings, timers and sources as after the first run.
 */
void run_check(void);

/* Runs the engine like engine_run(), with room for a few descriptors only (0 to 3). */
void run_starved(unsigned left);

/* The same numbers "random" in each run, whatever the runs before have drawn. */
void run_seed(void);

#endif
