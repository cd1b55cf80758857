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
 * Random words: none comes twice, in no thread and in no child.
 */
#include "embedded/base/random.h"

#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 100 /* more than are fetched at a time */

struct sequence {
    uint32_t words[WORDS];
};

static struct sequence draw(void) {
    struct sequence sequence;
    for (int i = 0; i < WORDS; i++) {
        CHECK_EQ(random_word(&sequence.words[i]), 0);
    }
    return sequence;
}

/* Returns whether two sequences have much in common: one of 32 bits may come by chance in both, but not four. */
static bool have_much_in_common(const struct sequence *a, const struct sequence *b) {
    int common = 0;
    for (int i = 0; i < WORDS; i++) {
        for (int k = 0; k < WORDS; k++) {
            common += a->words[i] == b->words[k] && (a != b || i != k);
        }
    }
    return common >= 4;
}

static void words_do_not_come_twice(void) {
    struct sequence first = draw(), second = draw();
    CHECK(!have_much_in_common(&first, &first));
    CHECK(!have_much_in_common(&first, &second));
}

static void *draw_in_thread(void *sequence) {
    *(struct sequence *) sequence = draw();
    return NULL;
}

static void threads_have_words_of_their_own(void) {
    struct sequence own = draw(), other;
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, draw_in_thread, &other), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(!have_much_in_common(&own, &other));
}

static void a_child_does_not_draw_what_its_parent_draws(void) {
    uint32_t first;
    CHECK_EQ(random_word(&first), 0); /* there are others left */
    int pipes[2];
    CHECK_EQ(pipe(pipes), 0);
    pid_t child = fork_child();
    if (child == 0) {
        struct sequence words = draw();
        _exit(write(pipes[1], &words, sizeof(words)) == (ssize_t) sizeof(words) ? 0 : 1);
    }
    struct sequence own = draw(), childs;
    CHECK_EQ(read(pipes[0], &childs, sizeof(childs)), sizeof(childs));
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK(!have_much_in_common(&own, &childs));
    close(pipes[0]);
    close(pipes[1]);
}

int main(void) {
    RUN(words_do_not_come_twice);
    RUN(threads_have_words_of_their_own);
    RUN(a_child_does_not_draw_what_its_parent_draws);
    return 0;
}
