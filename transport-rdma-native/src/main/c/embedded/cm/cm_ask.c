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
 * Search for the network namespace that has an address, among namespaces that share a folder (link.h). The listeners at
 * the port are asked, and look for the address at that moment, because a stored list of addresses could be outdated. An
 * address may be in use in several namespaces. Then the search fails, because the client may mean any of them.
 */
#include "cm.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* Time to wait for other answers after the first yes, because a stopped process does not answer. */
_Atomic uint64_t cm_ask_grace_ns = UINT64_C(100000000);

struct cm_question {
    struct cm_question *next; /* list of all questions */
    struct cm_id *id;
    cm_answered done;
    unsigned count, waiting, found; /* number of namespaces that were asked, have not answered yet, have answered yes */
    bool another_version;           /* a process that was asked has another LINK_VERSION, and cannot answer */
    struct link_network network;    /* latest namespace that answered yes */
    struct {
        struct link *link; /* NULL: the process has answered */
        struct link_network network;
    } asked[CM_MAX_ASKED];
};

static struct cm_question *questions;

static void free_question(struct cm_question *question) {
    struct cm_question **previous = &questions;
    while (*previous != question) {
        previous = &(*previous)->next;
    }
    *previous = question->next;
    for (unsigned i = 0; i < question->count; i++) {
        if (question->asked[i].link != NULL) {
            link_put(question->asked[i].link);
        }
    }
    free(question);
}

void cm_stop_asking(struct cm_id *id) {
    if (id->question != NULL) {
        free_question(id->question);
        id->question = NULL;
    }
}

void cm_forget_questions(void) {
    questions = NULL;
}

static void finish(struct cm_id *id) {
    const struct cm_question *question = id->question;
    struct link_network network = question->network;
    cm_answered done = question->done;
    int err = question->found > 1 ? ENOTUNIQ : question->found == 1 ? 0 : question->waiting > 0 ? ETIMEDOUT
            : question->another_version ? EPROTONOSUPPORT : ENODEV;
    cm_stop_asking(id);
    engine_timer_cancel(&id->timer); /* cancelled on the engine thread, where a cancel never waits */
    done(id, err, &network);
}

static void on_timer(struct engine_timer *timer) {
    struct cm_id *id = container_of(timer, struct cm_id, timer);
    pthread_mutex_lock(&cm_lock);
    if (id->question != NULL) {
        finish(id);
    }
    pthread_mutex_unlock(&cm_lock);
}

/* Handles an answer. A process that can no longer answer counts as a no. */
static void take(struct cm_question *question, unsigned i, bool here) {
    struct cm_id *id = question->id;
    link_put(question->asked[i].link);
    question->asked[i].link = NULL;
    question->waiting--;
    if (here) {
        question->found++;
        question->network = question->asked[i].network;
    }
    if (question->waiting == 0 || question->found > 1) {
        finish(id);
    } else if (here) {
        engine_timer_set(&id->timer, engine_now_ns() + cm_ask_grace_ns);
    }
}

static void ask_one(struct cm_question *question, const struct link_network *network, int port_space, uint16_t port,
                    const struct cm_wire_ask *message) {
    struct link *link;
    int err = EPIPE;
    /* The peer may have ended a known link, and the engine may not have read that yet. */
    for (int fresh = 0; fresh < 2 && err == EPIPE; fresh++) {
        if (link_connect_port_in(network, port_space, port, fresh, &link) != 0) {
            return;
        }
        err = link_send(link, CM_ASK, message, sizeof(*message), NULL, 0);
        if (err == EPIPE && fresh && link_is_up(link)) {
            /* The peer has ended the link, perhaps after a message with the reason. Its down handler comes next. */
            err = 0;
        }
        if (err != 0) {
            question->another_version |= link_is_of_another_version(link);
            link_put(link);
        }
    }
    if (err != 0) {
        return;
    }
    question->asked[question->count].link = link;
    question->asked[question->count].network = *network;
    question->count++;
    question->waiting++;
}

static uint16_t port_of(const struct sockaddr *destination) {
    return ntohs(*cm_address_port((struct sockaddr *) destination));
}

int cm_find_networks(const struct cm_id *id, const struct sockaddr *destination, struct cm_networks *found) {
    found->count = link_find_networks((int) id->id.ps, port_of(destination), found->networks, CM_MAX_ASKED);
    return found->count > 0 ? 0 : errno != 0 ? errno : ENODEV;
}

int cm_ask(struct cm_id *id, const struct sockaddr *destination, const struct cm_networks *networks,
           uint64_t patience_ns, cm_answered done) {
    struct cm_question *question = calloc(1, sizeof(*question));
    if (question == NULL) {
        return ENOMEM;
    }
    question->id = id;
    question->done = done;
    question->next = questions;
    questions = question;
    struct cm_wire_ask message = { .from = id->handle };
    cm_address_to_wire(destination, &message.address);
    for (unsigned i = 0; i < networks->count; i++) {
        ask_one(question, &networks->networks[i], (int) id->id.ps, port_of(destination), &message);
    }
    if (question->waiting == 0) {
        int err = question->another_version ? EPROTONOSUPPORT : ENODEV;
        free_question(question);
        return err;
    }
    id->question = question;
    id->timer.fire = on_timer;
    engine_timer_set(&id->timer, engine_now_ns() + patience_ns);
    return 0;
}

/* ---- messages of peers, on the engine thread ---- */

static bool on_ask(struct link *link, const struct link_message *incoming) {
    const struct cm_wire_ask *message = link_body(incoming, sizeof(*message));
    struct sockaddr_storage address;
    if (message == NULL || !cm_address_from_wire(&message->address, &address)) {
        return false;
    }
    const struct sockaddr *asked = (const struct sockaddr *) &address;
    const struct cm_wire_answer answer = {
        .to = message->from,
        /* Loopback addresses are excluded, as each namespace has them. */
        .here = !cm_address_is_any(asked) && !cm_address_is_loopback(asked) && cm_address_leads_here(asked),
    };
    link_send(link, CM_ANSWER, &answer, sizeof(answer), NULL, 0);
    return true;
}

static bool on_answer(struct link *link, const struct link_message *incoming) {
    const struct cm_wire_answer *message = link_body(incoming, sizeof(*message));
    if (message == NULL || message->here > 1) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_question *question = questions;
    while (question != NULL && question->id->handle != message->to) {
        question = question->next;
    }
    for (unsigned i = 0; question != NULL && i < question->count; i++) {
        if (question->asked[i].link == link) { /* another link: the answer is late, or the process was not asked */
            take(question, i, message->here != 0);
            break;
        }
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

static void on_link_down(struct link *link) {
    pthread_mutex_lock(&cm_lock);
    for (struct cm_question *question = questions, *next; question != NULL; question = next) {
        next = question->next;
        for (unsigned i = 0; i < question->count; i++) {
            if (question->asked[i].link == link) {
                question->another_version |= link_is_of_another_version(link);
                take(question, i, false);
                break;
            }
        }
    }
    pthread_mutex_unlock(&cm_lock);
}

void cm_ask_init(void) {
    link_set_handler(CM_ASK, on_ask);
    link_set_handler(CM_ANSWER, on_answer);
    link_add_down_handler(on_link_down);
}
