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
#include "check.h"
#include "embedded/base/store_policy.h"

#define PIECE (UINT32_C(32) << 10)
#define MIB (UINT64_C(1) << 20)

static struct store_policy policy;
static uint64_t ordinary_ns, past_cache_ns; /* duration of a piece */
/* The piece, counted from the start of a run, that takes a millisecond more. */
static uint64_t interrupted_at;

/* Returns how many bytes of these were stored past the cache. */
static uint64_t store(uint64_t bytes) {
    uint64_t past_cache = 0;
    for (uint64_t i = 0; i < bytes / PIECE; i++) {
        bool past = store_policy_past_cache(&policy);
        past_cache += past ? PIECE : 0;
        uint64_t ns = (past ? past_cache_ns : ordinary_ns) + (i == interrupted_at ? 1000000 : 0);
        store_policy_stored(&policy, PIECE, store_policy_samples(&policy) ? ns : 0);
    }
    return past_cache;
}

static void cores_share_a_cache(void) {
    ordinary_ns = 600;
    past_cache_ns = 830;
}

static void cores_are_far_apart(void) {
    ordinary_ns = 3500;
    past_cache_ns = 1300;
}

static void start(void) {
    interrupted_at = UINT64_MAX;
    store_policy_init(&policy);
}

/* The first comparison of one that is new, and what it takes to find the way that was decided on. */
static void compare(void) {
    store(STORE_POLICY_FIRST_GAP + 3 * STORE_POLICY_SAMPLE);
}

static void stores_are_ordinary_where_cores_share_a_cache(void) {
    cores_share_a_cache();
    start();
    compare();
    CHECK(!store_policy_past_cache(&policy));
}

static void stores_go_past_the_cache_where_the_reader_is_far(void) {
    cores_are_far_apart();
    start();
    compare();
    CHECK(store_policy_past_cache(&policy));
}

static void somewhat_dearer_ordinary_stores_are_kept_for_the_reader(void) {
    cores_share_a_cache();
    start();
    compare();
    ordinary_ns = past_cache_ns * 4 / 3;
    store(64 * MIB);
    CHECK(!policy.decided);
}

static void new_one_begins_with_the_latest_decision(void) {
    cores_are_far_apart();
    start();
    compare();
    start();
    CHECK(store_policy_past_cache(&policy));
    cores_share_a_cache();
    compare();
    start();
    CHECK(!store_policy_past_cache(&policy));
}

static void one_interruption_decides_nothing(void) {
    uint64_t pieces = (STORE_POLICY_FIRST_GAP + 3 * STORE_POLICY_SAMPLE) / PIECE;
    for (uint64_t at = 0; at < pieces; at++) {
        cores_share_a_cache();
        start();
        interrupted_at = at;
        compare();
        CHECK(!policy.decided);
    }
    cores_are_far_apart();
    start();
    compare();
    for (uint64_t at = 0; at < pieces; at++) {
        start();
        interrupted_at = at;
        compare();
        CHECK(policy.decided);
    }
}

static void decision_follows_a_reader_that_moves(void) {
    cores_share_a_cache();
    start();
    store(40 * MIB);
    CHECK(!policy.decided);
    cores_are_far_apart();
    store(80 * MIB);
    CHECK(policy.decided);
    cores_share_a_cache();
    store(40 * MIB);
    CHECK(!policy.decided);
}

static void comparisons_become_rare(void) {
    cores_share_a_cache();
    start();
    CHECK(store(1024 * MIB) < 1024 * MIB / 64);
    CHECK(store(8192 * MIB) < 8192 * MIB / 512);
    CHECK_EQ(policy.gap, STORE_POLICY_MAX_GAP);
}

/* Pieces are READs of a few bytes more than the least, or the clock stands still. */
static void pieces_of_any_size_and_no_time_are_compared(void) {
    cores_share_a_cache();
    start();
    for (int i = 0; i < 100000; i++) {
        store_policy_stored(&policy, i % 2 == 0 ? STORE_POLICY_MIN : UINT32_MAX, 0);
    }
    CHECK(!policy.decided);
}

int main(void) {
    RUN(stores_are_ordinary_where_cores_share_a_cache);
    RUN(stores_go_past_the_cache_where_the_reader_is_far);
    RUN(somewhat_dearer_ordinary_stores_are_kept_for_the_reader);
    RUN(new_one_begins_with_the_latest_decision);
    RUN(one_interruption_decides_nothing);
    RUN(decision_follows_a_reader_that_moves);
    RUN(comparisons_become_rare);
    RUN(pieces_of_any_size_and_no_time_are_compared);
    return 0;
}
