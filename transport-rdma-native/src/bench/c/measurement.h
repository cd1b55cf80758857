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
 * A measurement, and its line, which io.netty.example.rdma.util.Measurement reads.
 */
#ifndef SHM_MEASUREMENT_H
#define SHM_MEASUREMENT_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Counts durations with an error below 0.2 %: bucket [s][v >> s], where s leaves no more than ten bits of v. */
#define BUCKET_BITS 10

struct histogram {
    uint64_t count;
    uint64_t buckets[64 - BUCKET_BITS + 1][1 << BUCKET_BITS];
};

static inline uint64_t now_nanos(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

static inline void histogram_clear(struct histogram *histogram) {
    memset(histogram, 0, sizeof(*histogram));
}

static inline void histogram_record(struct histogram *histogram, uint64_t value) {
    int shift = value >> BUCKET_BITS ? 64 - BUCKET_BITS - __builtin_clzll(value) : 0;

    histogram->count++;
    histogram->buckets[shift][value >> shift]++;
}

/* The highest value that counts as one that so many thousandths of all do not exceed; 0 if there are none. */
static inline uint64_t histogram_quantile(const struct histogram *histogram, unsigned thousandths) {
    uint64_t rank = (histogram->count * thousandths + 999) / 1000;
    uint64_t seen = 0;

    for (int shift = 0; shift <= 64 - BUCKET_BITS; shift++) {
        for (uint64_t i = 0; i < 1 << BUCKET_BITS; i++) {
            seen += histogram->buckets[shift][i];
            if (seen >= rank && seen > 0) {
                return ((i + 1) << shift) - 1;
            }
        }
    }
    return 0;
}

static inline const char *size_name(size_t bytes, char name[static 16]) {
    if (bytes < 1 << 10) {
        snprintf(name, 16, "%zu B", bytes);
    } else if (bytes < 1 << 20) {
        snprintf(name, 16, "%zu KiB", bytes >> 10);
    } else
        snprintf(name, 16, "%zu MiB", bytes >> 20);
    return name;
}

static inline void print_latency(const char *what, const struct histogram *histogram, uint64_t nanos) {
    printf("measured %s: %" PRIu64 " times, %.0f operations/s, p50 %" PRIu64 " ns, p99 %" PRIu64 " ns, p99.9 %" PRIu64
        " ns\n", what, histogram->count, (double) histogram->count * 1e9 / (double) nanos,
        histogram_quantile(histogram, 500), histogram_quantile(histogram, 990), histogram_quantile(histogram, 999));
    fflush(stdout);
}

static inline void print_rate(const char *what, uint64_t count, size_t bytes, uint64_t nanos) {
    printf("measured %s: %" PRIu64 " times, %.0f bytes/s, p50 0 ns, p99 0 ns, p99.9 0 ns\n", what, count,
        (double) count * (double) bytes * 1e9 / (double) nanos);
    fflush(stdout);
}

#endif
