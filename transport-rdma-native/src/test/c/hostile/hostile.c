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
/* The neighbours, and what tells of the rounds: see hostile.h. */
#include "hostile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "check.h"
#include "embedded/namespaces.h"

struct hostile hostile;
static atomic_uint rounds_ended;

static const struct {
    const char *name;
    void (*attack)(void);
} attacks[] = {
    { "linger", linger }, { "connect-forever", connect_forever }, { "ask-and-not-read", ask_and_not_read },
    { "take-port", take_port }, { "take-numbers", take_numbers }, { "take-groups", take_groups },
    { "make-fifo", make_fifo }, { "make-link", make_link }, { "stay-half-open", stay_half_open },
    { "change-flags", change_flags }, { "scribble", scribble }, { "speak-another", speak_another },
    { "stop-connecting", stop_connecting }, { "die-connecting", die_connecting },
};

void end_round(void) {
    if (atomic_fetch_add(&rounds_ended, 1) == 0) {
        printf("READY \n");
        fflush(stdout);
    }
}

void hold(void) {
    for (;;) {
        end_round();
        usleep(10000);
    }
}

void pause_for_us(unsigned at_most) {
    usleep((unsigned) rand() % at_most);
}

pid_t fork_worker(void) {
    pid_t parent = getpid(), child = fork_child();
    if (child == 0) {
        CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
        if (getppid() != parent) {
            _exit(1);
        }
        limit_life();
    }
    return child;
}

_Noreturn static void skip(const char *reason) {
    printf("READY skipped: %s\n", reason);
    fflush(stdout);
    _exit(0);
}

static void become(const char *name) {
    hostile.victim = geteuid();
    if (strcmp(name, "stranger") == 0) {
        hostile.neighbour = STRANGER;
        if (!become_user(30000 + (uid_t) getpid() % 30000)) {
            skip("another user, which only root can become, and not in a user namespace that has one user");
        }
    } else if (strcmp(name, "far") == 0) {
        hostile.neighbour = FAR;
        if (!has_pid_namespaces()) {
            skip("PID namespaces, which this process may not make");
        }
        enter_pid_namespace();
    } else {
        CHECK(strcmp(name, "near") == 0);
        hostile.neighbour = NEAR;
    }
}

static void *answer(void *unused) {
    char line[64];
    (void) unused;
    while (fgets(line, sizeof(line), stdin) != NULL) {
        printf("ROUNDS %u\n", atomic_load(&rounds_ended));
        fflush(stdout);
    }
    _exit(0);
}

int main(int argc, char **argv) {
    pthread_t thread;
    limit_life();
    CHECK(argc >= 4);
    signal(SIGPIPE, SIG_IGN);
    become(argv[1]);
    srand((unsigned) getpid());
    hostile.port = (uint16_t) atoi(argv[3]);
    hostile.names = argv + 4;
    hostile.count = argc - 4;
    CHECK_EQ(pthread_create(&thread, NULL, answer, NULL), 0);
    for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
        if (strcmp(attacks[i].name, argv[2]) == 0) {
            attacks[i].attack();
        }
    }
    fprintf(stderr, "no attack without end is named %s\n", argv[2]);
    return 1;
}
