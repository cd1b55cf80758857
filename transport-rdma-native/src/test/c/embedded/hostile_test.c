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
/* @Tag("stalls") */
/*
 * A process that lies: malformed messages, memory that is not what it should be, descriptors and acknowledgements that
 * no honest end would write. Its victim must close the link, fail the one queue pair, and go on.
 */
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "embedded/base/sealed.h"
#include "embedded/device/cq.h"
#include "embedded/device/watch.h"
#include "embedded/link/link.h"
#include "embedded/link/notify_area.h"
#include "embedded/link/process.h"
#include "embedded/link/wire.h"
#include "pair.h"
#include "qp_inside.h"
#include "xrc_support.h"

struct liar {
    struct link *link;
    struct wire_arena *arena; /* arena of one segment */
    int arena_fd;
    uint32_t own_qpn, victim_qpn;
    uint32_t type; /* queue pair type that it claims */
};

static void send_message(struct liar *liar, unsigned type, const void *body, size_t length, int *fds, int nfds) {
    int error = link_send(liar->link, type, body, length, fds, nfds);
    CHECK(error == 0 || error == EPIPE);
}

static void send_notify_area(struct liar *liar) {
    int fds[] = { own_notify_area_fd, own_doorbell.rung.fd };
    send_message(liar, WIRE_NOTIFY_AREA, NULL, 0, fds, 2);
}

static struct wire_attach attach_of(const struct liar *liar) {
    return (struct wire_attach) {
        .src_qpn = liar->own_qpn, .dst_qpn = liar->victim_qpn, .recv_cq_id = 1, .send_cq_id = 1,
        .type = liar->type, .carries = WIRE_ARENA, .place = { .segments = 1 },
    };
}

static void send_attach(struct liar *liar) {
    struct wire_attach attach = attach_of(liar);
    send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), &liar->arena_fd, 1);
}

/* ---- lies about the messages: the link goes down, the queue pair never meets anybody ---- */

static void notify_area_with_a_body(struct liar *liar) {
    char body[3] = { 0 };
    int fds[] = { own_notify_area_fd, own_doorbell.rung.fd };
    send_message(liar, WIRE_NOTIFY_AREA, body, sizeof(body), fds, 2);
}

static void notify_area_without_descriptors(struct liar *liar) {
    send_message(liar, WIRE_NOTIFY_AREA, NULL, 0, NULL, 0);
}

static void notify_area_that_can_shrink(struct liar *liar) {
    int fds[] = { memfd_create("unsealed", MFD_CLOEXEC), own_doorbell.rung.fd };
    CHECK_EQ(ftruncate(fds[0], sizeof(struct notify_area)), 0);
    send_message(liar, WIRE_NOTIFY_AREA, NULL, 0, fds, 2);
    close(fds[0]);
}

static void notify_area_with_a_pipe_for_a_doorbell(struct liar *liar) {
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    int fds[] = { own_notify_area_fd, ends[1] };
    send_message(liar, WIRE_NOTIFY_AREA, NULL, 0, fds, 2);
    close(ends[0]);
    close(ends[1]);
}

static void two_notify_areas(struct liar *liar) {
    send_notify_area(liar);
    send_notify_area(liar);
}

static void attach_before_the_notify_area(struct liar *liar) {
    send_attach(liar);
}

static void attach_of_another_length(struct liar *liar) {
    send_notify_area(liar);
    send_message(liar, WIRE_ATTACH, liar, 7, &liar->arena_fd, 1);
}

static void attach_without_memory(struct liar *liar) {
    struct wire_attach attach = attach_of(liar);
    send_notify_area(liar);
    send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), NULL, 0);
}

static void attach_to_no_completion_queue(struct liar *liar) {
    struct wire_attach attach = attach_of(liar);
    attach.recv_cq = NOTIFY_CQS;
    send_notify_area(liar);
    send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), &liar->arena_fd, 1);
}

static void attach_with_memory_that_can_shrink(struct liar *liar) {
    struct wire_attach attach = attach_of(liar);
    int fd = memfd_create("unsealed", MFD_CLOEXEC);
    CHECK_EQ(ftruncate(fd, wire_arena_size(1)), 0);
    send_notify_area(liar);
    send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), &fd, 1);
    close(fd);
}

static void attach_with_too_little_memory(struct liar *liar) {
    struct wire_attach attach = attach_of(liar);
    void *memory;
    int fd = sealed_create("small", 4096, &memory);
    send_notify_area(liar);
    send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), &fd, 1);
    close(fd);
    munmap(memory, 4096);
}

static void attach_to_no_segment(struct liar *liar) {
    struct wire_attach attach = attach_of(liar);
    attach.place.segment = 1;
    send_notify_area(liar);
    send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), &liar->arena_fd, 1);
}

static void attach_to_an_arena_without_segments(struct liar *liar) {
    struct wire_attach attach = attach_of(liar);
    attach.place.segments = 0;
    send_notify_area(liar);
    send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), &liar->arena_fd, 1);
}

static void attach_to_an_arena_of_more_segments_than_allowed(struct liar *liar) {
    struct wire_attach attach = attach_of(liar);
    attach.place.segments = UINT32_MAX / sizeof(struct wire_segment);
    send_notify_area(liar);
    send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), &liar->arena_fd, 1);
}

static void attach_to_an_arena_that_has_grown(struct liar *liar) {
    struct wire_attach attach = attach_of(liar);
    attach.src_qpn++; /* nobody that the victim waits for */
    send_notify_area(liar);
    send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), &liar->arena_fd, 1);
    attach.place = (struct wire_place) { .segment = 1, .segments = 2 };
    send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), &liar->arena_fd, 1);
}

static void leave_of_a_segment_that_was_not_introduced(struct liar *liar) {
    send_notify_area(liar);
    send_message(liar, WIRE_LEAVE, &(struct wire_place) { .arena = 1000 }, sizeof(struct wire_place), NULL, 0);
}

static void leave_of_another_length(struct liar *liar) {
    send_notify_area(liar);
    send_message(liar, WIRE_LEAVE, liar, sizeof(struct wire_place) - 1, NULL, 0);
}

static void end_of_an_arena_of_another_length(struct liar *liar) {
    send_notify_area(liar);
    send_message(liar, WIRE_ARENA_END, liar, sizeof(struct wire_place) + 1, NULL, 0);
}

static void slots_beyond_the_notify_area(struct liar *liar) {
    struct wire_slots slots = { .src_qpn = liar->own_qpn, .dst_qpn = liar->victim_qpn, .recv_bank = NOTIFY_BANKS };
    send_notify_area(liar);
    send_message(liar, WIRE_SLOTS, &slots, sizeof(slots), NULL, 0);
}

static void slots_before_the_notify_area(struct liar *liar) {
    struct wire_slots slots = { .src_qpn = liar->own_qpn, .dst_qpn = liar->victim_qpn };
    send_message(liar, WIRE_SLOTS, &slots, sizeof(slots), NULL, 0);
}

/* The queue pair fails, and its peer comes again all the same. */
static void attach_twice_with_a_pipe_for_a_doorbell(struct liar *liar) {
    struct wire_attach attach = attach_of(liar);
    attach.carries |= WIRE_RECV_DOORBELL;
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    send_notify_area(liar);
    for (int i = 0; i < 2; i++) {
        int fds[] = { liar->arena_fd, ends[1] };
        send_message(liar, WIRE_ATTACH, &attach, sizeof(attach), fds, 2);
    }
    close(ends[0]);
    close(ends[1]);
}

static void (*const message_lies[])(struct liar *) = {
    notify_area_with_a_body, notify_area_without_descriptors, notify_area_that_can_shrink,
    notify_area_with_a_pipe_for_a_doorbell, two_notify_areas,
    attach_before_the_notify_area, attach_of_another_length, attach_without_memory,
    attach_to_no_completion_queue, attach_with_memory_that_can_shrink, attach_with_too_little_memory,
    attach_to_no_segment, attach_to_an_arena_without_segments, attach_to_an_arena_of_more_segments_than_allowed,
    attach_to_an_arena_that_has_grown, leave_of_a_segment_that_was_not_introduced, leave_of_another_length,
    end_of_an_arena_of_another_length, slots_beyond_the_notify_area, slots_before_the_notify_area,
};
#define MESSAGE_LIES ((int) (sizeof(message_lies) / sizeof(message_lies[0])))

/* ---- lies in shared memory: the queue pair fails ---- */

#define WHOLE (WIRE_FIRST | WIRE_LAST)

static const struct wire_desc desc_lies[] = {
    { .op = 0, .flags = WHOLE, .slab = WIRE_INLINE },
    { .op = WIRE_RESPONSE, .flags = WHOLE, .slab = WIRE_INLINE },
    { .op = 200, .flags = WHOLE, .slab = WIRE_INLINE },
    { .op = WIRE_SEND, .flags = WHOLE, .slab = WIRE_INLINE, .length = WIRE_INLINE_SIZE + 1,
      .total = WIRE_INLINE_SIZE + 1 },
    { .op = WIRE_SEND, .flags = WHOLE, .slab = WIRE_REQUEST_SLAB - 1, .length = 2, .total = 2 },
    { .op = WIRE_SEND, .flags = WHOLE, .slab = 0x80000000u, .length = 8, .total = 8 },
    { .op = WIRE_SEND, .flags = WHOLE, .slab = 0, .length = 0xffffffffu, .total = 8 },
    { .op = WIRE_SEND, .flags = WHOLE, .slab = 0, .length = 9, .total = 8 },
    { .op = WIRE_SEND, .flags = WHOLE, .slab = 0, .length = 8, .total = 9 },
    { .op = WIRE_SEND, .flags = WIRE_FIRST, .slab = 0, .length = 8, .total = 8 },
    { .op = WIRE_SEND, .flags = WIRE_FIRST, .slab = 0, .length = 0, .total = 8 },
    { .op = WIRE_SEND, .flags = WIRE_LAST, .slab = 0, .length = 8, .total = 8 },
    { .op = WIRE_SEND, .flags = WHOLE, .slab = 0, .length = 8, .total = WIRE_MAX_MESSAGE + 1 },
    { .op = WIRE_READ, .flags = WHOLE, .slab = WIRE_INLINE, .length = 8, .total = 8 },
    { .op = WIRE_READ, .flags = WIRE_FIRST, .slab = WIRE_INLINE, .total = 8 },
    { .op = WIRE_FETCH_ADD, .flags = WIRE_LAST, .slab = WIRE_INLINE, .total = 8 },
    { .op = WIRE_SEND, .flags = WHOLE, .slab = WIRE_INLINE, .length = 8, .total = 8, .srqn = 1 },
};
#define DESC_LIES ((int) (sizeof(desc_lies) / sizeof(desc_lies[0])))

static void publish(struct wire_slot *slot, const struct wire_desc *desc, uint32_t sequence) {
    memcpy(&slot->desc, desc, sizeof(*desc));
    atomic_store(&slot->desc.sequence, sequence);
}

static void a_response_to_nothing(struct wire_arena *arena) {
    struct wire_desc desc = { .op = WIRE_RESPONSE, .flags = WIRE_LAST, .slab = WIRE_INLINE, .length = 8 };
    atomic_store(&arena->control[0].begun[WIRE_RESPONSES], 1);
    publish(&arena->segment[0].response[0], &desc, 1);
}

static void an_acknowledgement_of_nothing(struct wire_arena *arena) {
    atomic_store(&arena->control[0].stream[WIRE_REQUESTS].ack, WIRE_ACK_WORD(1, WIRE_OK));
}

static void a_refusal_of_nothing(struct wire_arena *arena) {
    atomic_store(&arena->control[0].stream[WIRE_REQUESTS].ack, WIRE_ACK_WORD(0, WIRE_ACCESS_ERROR));
}

static void an_unknown_status(struct wire_arena *arena) {
    atomic_store(&arena->control[0].stream[WIRE_REQUESTS].ack, WIRE_ACK_WORD(0, WIRE_STATUS_LIMIT));
}

static void a_message_that_changes_its_kind(struct wire_arena *arena) {
    struct wire_desc desc = { .op = WIRE_SEND, .flags = WIRE_FIRST, .slab = 0, .length = 8, .total = 16 };
    publish(&arena->segment[0].request[0], &desc, 1);
    desc.op = WIRE_WRITE;
    desc.flags = WIRE_LAST;
    publish(&arena->segment[0].request[1], &desc, 2);
}

static void a_message_that_grows(struct wire_arena *arena) {
    struct wire_desc desc = { .op = WIRE_SEND, .flags = WIRE_FIRST, .slab = 0, .length = 8, .total = 16 };
    publish(&arena->segment[0].request[0], &desc, 1);
    desc.flags = 0;
    desc.total = 1 << 20;
    publish(&arena->segment[0].request[1], &desc, 2);
}

static void a_message_within_a_message(struct wire_arena *arena) {
    struct wire_desc desc = { .op = WIRE_SEND, .flags = WIRE_FIRST, .slab = 0, .length = 8, .total = 16 };
    publish(&arena->segment[0].request[0], &desc, 1);
    publish(&arena->segment[0].request[1], &desc, 2);
}

static void an_atomic_within_a_message(struct wire_arena *arena) {
    struct wire_desc desc = { .op = WIRE_SEND, .flags = WIRE_FIRST, .slab = 0, .length = 8, .total = 16 };
    publish(&arena->segment[0].request[0], &desc, 1);
    desc = (struct wire_desc) { .op = WIRE_CMP_SWAP, .flags = WHOLE, .slab = WIRE_INLINE, .total = 8 };
    publish(&arena->segment[0].request[1], &desc, 2);
}

static void (*const segment_lies[])(struct wire_arena *) = {
    a_response_to_nothing, an_acknowledgement_of_nothing, a_refusal_of_nothing, an_unknown_status,
    a_message_that_changes_its_kind, a_message_that_grows, a_message_within_a_message, an_atomic_within_a_message,
};
#define SEGMENT_LIES ((int) (sizeof(segment_lies) / sizeof(segment_lies[0])))

/* ---- noise: descriptors and control words that change all the time ---- */

static void make_noise(struct liar *liar) {
    uint32_t random = liar->victim_qpn;
    struct wire_segment *segment = &liar->arena->segment[0];
    uint8_t *bytes = (uint8_t *) segment->request;
    atomic_store(&liar->arena->control[0].begun[WIRE_REQUESTS], 1);
    for (int i = 0; i < 200000 && link_is_up(liar->link); i++) {
        random = random * 1664525 + 1013904223;
        struct wire_slot *slot = &segment->request[(random >> 8) % 4];
        struct wire_desc desc = {
            .op = 1 + (random >> 12) % 7, .flags = random >> 16 & 15, .length = (random >> 20) % 300,
            .slab = random & 1 ? WIRE_INLINE : random >> 13, .total = (random >> 20) % 600,
        };
        publish(slot, &desc, (uint32_t) (slot - segment->request) + 1);
        bytes[random % (2 * WIRE_DESC_SIZE)] = (uint8_t) (random >> 24);
    }
    link_abort(liar->link);
}

/* ---- the liar ---- */

#define NO_DOORBELL 997  /* NO_DOORBELL: followed by a lie that ends the link, as the next one */
#define NUDGE 998
#define INTRODUCTION 999 /* INTRODUCTION: nothing else is sent, until the victim says so */
#define NOISE 1000

struct errand {
    int lie; /* -1: go home */
    uint32_t victim_qpn;
    uint32_t claimed_qpn; /* 0: the liar's own */
    uint32_t type;        /* queue pair type that the victim may be connected with */
};

static void open_lie(struct liar *liar, uint32_t own_qpn, uint32_t victim_qpn) {
    void *memory;
    liar->own_qpn = own_qpn;
    liar->victim_qpn = victim_qpn;
    liar->arena_fd = sealed_create("lie", wire_arena_size(1), &memory);
    CHECK(liar->arena_fd >= 0);
    liar->arena = memory;
    CHECK_EQ(link_connect_qpn(victim_qpn, &liar->link), 0);
}

static void close_lie(struct liar *liar) {
    /* The victim hangs up on us, or the errand fails for want of it. */
    uint64_t end = patience_end_ns();
    while (link_is_up(liar->link)) {
        CHECK(now_ns() < end);
        poll(NULL, 0, 1);
    }
    link_put(liar->link);
    close(liar->arena_fd);
    munmap(liar->arena, wire_arena_size(1));
}

static void lie(int socket) {
    struct end unused; /* opens the provider */
    end_open(&unused, &defaults);
    uint32_t own_qpn = link_claim_qpn_block(true);
    CHECK(own_qpn != 0);
    send_all(socket, &own_qpn, sizeof(own_qpn));
    for (;;) {
        struct errand errand;
        receive_all(socket, &errand, sizeof(errand));
        if (errand.lie < 0) {
            return;
        }
        struct liar liar;
        open_lie(&liar, errand.claimed_qpn != 0 ? errand.claimed_qpn : own_qpn, errand.victim_qpn);
        liar.type = errand.type;
        int number = errand.lie;
        if (number == INTRODUCTION) {
            char byte = 0;
            send_notify_area(&liar);
            send_attach(&liar);
            send_all(socket, &byte, 1);
            receive_all(socket, &byte, 1);
            link_abort(liar.link);
        } else if (number == NO_DOORBELL) {
            attach_twice_with_a_pipe_for_a_doorbell(&liar);
            send_notify_area(&liar); /* the second one */
        } else if (number == NUDGE) {
            const struct wire_nudge nudge = { .dst_qpn = liar.victim_qpn };
            send_message(&liar, WIRE_NUDGE, &nudge, sizeof(nudge), NULL, 0);
            slots_before_the_notify_area(&liar);
        } else if (number >= NOISE) {
            send_notify_area(&liar);
            send_attach(&liar);
            make_noise(&liar);
        } else if (number < MESSAGE_LIES) {
            message_lies[number](&liar);
        } else {
            number -= MESSAGE_LIES;
            atomic_store(&liar.arena->control[0].begun[WIRE_REQUESTS], 1);
            if (number < DESC_LIES) {
                publish(&liar.arena->segment[0].request[0], &desc_lies[number], 1);
            } else {
                segment_lies[number - DESC_LIES](liar.arena);
            }
            send_notify_area(&liar);
            send_attach(&liar);
        }
        close_lie(&liar);
        char done = 1;
        send_all(socket, &done, 1);
    }
}

/* ---- the victim ---- */

static pid_t liar_pid;
static int liar_socket;
static uint32_t liar_qpn;
static struct end bystander_a, bystander_b;

static void suffer_as(enum ibv_qp_type type, int lie_number, bool attaches) {
    struct end end;
    struct options options = defaults;
    options.type = type;
    end_open(&end, &options);
    end_to_init(&end);
    CHECK_EQ(post_recv(&end, 1, 0, 4096), 0);
    CHECK_EQ(end_to_rtr(&end, liar_qpn), 0);
    CHECK_EQ(end_to_rts(&end), 0);
    struct errand errand = { lie_number, end.qp->qp_num, 0, type };
    send_all(liar_socket, &errand, sizeof(errand));
    char done;
    receive_all(liar_socket, &done, 1);
    if (attaches) {
        expect_state(end.qp, IBV_QPS_ERR);
        expect_wc(end.recv_cq, 1, IBV_WC_WR_FLUSH_ERR);
        struct ibv_async_event event;
        do { /* COMM_EST may come first */
            CHECK_EQ(ibv_get_async_event(end.context, &event), 0);
            ibv_ack_async_event(&event);
        } while (event.event_type != IBV_EVENT_QP_FATAL);
    } else {
        expect_nothing(end.recv_cq);
        expect_state(end.qp, IBV_QPS_RTS);
    }
    end_close(&end);
    pair_talk(&bystander_a, &bystander_b);
}

static void suffer(int lie_number, bool attaches) {
    suffer_as(IBV_QPT_RC, lie_number, attaches);
}

static void a_descriptor_that_is_no_doorbell_fails_the_queue_pair_only(void) {
    suffer(NO_DOORBELL, true);
}

static void noise_does_no_harm(void) {
    int count = (int) rounds(40, 10);
    for (int i = 0; i < count; i++) {
        struct end end;
        struct options options = defaults;
        options.type = i % 2 == 0 ? IBV_QPT_RC : IBV_QPT_UC;
        end_open(&end, &options);
        end_to_init(&end);
        for (uint64_t k = 0; k < 64; k++) {
            CHECK_EQ(post_recv(&end, k, 4096, 256), 0);
        }
        CHECK_EQ(end_to_rtr(&end, liar_qpn), 0);
        CHECK_EQ(end_to_rts(&end), 0);
        struct errand errand = { NOISE + i, end.qp->qp_num, 0, options.type };
        send_all(liar_socket, &errand, sizeof(errand));
        struct pollfd p = { .fd = liar_socket, .events = POLLIN };
        struct ibv_wc wc;
        while (poll(&p, 1, 0) == 0) {
            end.context->ops.poll_cq(end.recv_cq, 1, &wc);
        }
        char done;
        receive_all(liar_socket, &done, 1);
        for (unsigned k = 0; k < PAIR_BUFFER; k++) {
            CHECK(end.buffer[k] == 0 || (k >= 4096 && k < 4096 + 256)); /* nothing but what was offered */
        }
        end_close(&end);
    }
}

static void malformed_messages_end_the_link_only(void) {
    for (int i = 0; i < MESSAGE_LIES; i++) {
        suffer(i, false);
    }
}

static void forged_descriptors_fail_the_queue_pair_only(void) {
    for (int i = 0; i < DESC_LIES; i++) {
        suffer(MESSAGE_LIES + i, true);
    }
}

static void forged_answers_fail_the_queue_pair_only(void) {
    for (int i = 0; i < SEGMENT_LIES; i++) {
        suffer(MESSAGE_LIES + DESC_LIES + i, true);
    }
}

/*
 * Unreliable connections, without what an honest peer may do there: end a message early, and be of another opinion on a
 * request.
 */
static void forged_descriptors_fail_an_unreliable_connection_too(void) {
    for (int i = 0; i < DESC_LIES + SEGMENT_LIES; i++) {
        void (*in_segment)(struct wire_arena *) = i < DESC_LIES ? NULL : segment_lies[i - DESC_LIES];
        if (in_segment != a_message_within_a_message && in_segment != a_refusal_of_nothing) {
            suffer_as(IBV_QPT_UC, MESSAGE_LIES + i, true);
        }
    }
}

/*
 * An initiator receives nothing at all. qp_fuzz tests what a target makes of its peer: much of it is refused, and no
 * lie.
 */
static void forged_descriptors_fail_an_initiator_too(void) {
    for (int lie = 0; lie < DESC_LIES + SEGMENT_LIES; lie++) {
        struct side side;
        side_open(&side, -1);
        struct ibv_qp *qp = make_initiator(&side, 0);
        connect_to(qp, liar_qpn, 7);
        struct errand errand = { MESSAGE_LIES + lie, qp->qp_num, 0, IBV_QPT_XRC_RECV };
        send_all(liar_socket, &errand, sizeof(errand));
        char done;
        receive_all(liar_socket, &done, 1);
        expect_state(qp, IBV_QPS_ERR);
        expect_nothing(side.cq);
        CHECK_EQ(ibv_destroy_qp(qp), 0);
        side_close(&side);
        pair_talk(&bystander_a, &bystander_b);
    }
}

static void a_notify_area_shown_by_another_process_does_not_take_over_the_doorbells(void) {
    int doorbells[3];
    for (int i = 0; i < 3; i++) {
        doorbells[i] = eventfd(0, EFD_CLOEXEC);
        CHECK(doorbells[i] >= 0);
    }
    const struct link_peer first = { .uid = geteuid(), .pid = 1, .may_signal = true },
                           second = { .uid = geteuid(), .pid = 2, .may_signal = true };
    struct process *thief = process_of_notify_area(&first, own_notify_area_fd, &doorbells[0]);
    struct process *owner = process_of_notify_area(&second, own_notify_area_fd, &doorbells[1]);
    CHECK(thief != NULL && owner != NULL && thief != owner);
    CHECK(process_of_notify_area(&second, own_notify_area_fd, &doorbells[2]) == owner); /* over another link */
    CHECK(doorbells[0] == -1 && doorbells[1] == -1 && doorbells[2] >= 0);
    close(doorbells[2]);
    process_put(thief);
    process_put(owner);
    process_put(owner);
}

static void a_stranger_does_not_take_the_place_of_the_peer(void) {
    struct end a, b;
    end_open(&a, &defaults);
    end_open(&b, &defaults);
    end_to_init(&a);
    CHECK_EQ(post_recv(&a, 1, 0, 64), 0);
    CHECK_EQ(end_to_rtr(&a, b.qp->qp_num), 0);
    struct errand errand = { NOISE, a.qp->qp_num, b.qp->qp_num, IBV_QPT_RC };
    send_all(liar_socket, &errand, sizeof(errand));
    char done;
    receive_all(liar_socket, &done, 1);
    CHECK_EQ(end_to_rts(&a), 0);
    end_connect(&b, a.qp->qp_num);
    CHECK_EQ(post_send(&b, 2, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(b.send_cq, 2, IBV_WC_SUCCESS);
    expect_wc(a.recv_cq, 1, IBV_WC_SUCCESS);
    end_close(&a);
    end_close(&b);
}

/* A name of queue pair numbers, at which nobody listens yet. */
static int bind_block(uint32_t *qpn) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), error = -1;
    CHECK(fd >= 0);
    for (uint32_t block = (LINK_UNNAMED_QPN >> 8) - 1; error != 0; block--) { /* another test may have one */
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "netty-rdma/%u/q/%u", geteuid(),
                              block);
        error = bind(fd, (struct sockaddr *) &address,
                     (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) length));
        CHECK(error == 0 || errno == EADDRINUSE);
        *qpn = block << 8;
    }
    return fd;
}

static bool has_route(struct qp *qp) {
    pthread_mutex_lock(&qp->control);
    bool has = rc_of(qp)->route != NULL;
    pthread_mutex_unlock(&qp->control);
    return has;
}

/* The victim looks for its peer again when the stranger's introduction comes. */
static void a_stranger_does_not_take_the_place_of_a_peer_that_comes_later(void) {
    struct end a;
    uint32_t qpn;
    char byte = 0;
    int fd = bind_block(&qpn);
    end_open(&a, &defaults);
    end_to_init(&a);
    CHECK_EQ(end_to_rtr(&a, qpn), 0);
    struct qp *qp = qp_of(a.qp);
    pthread_mutex_lock(&qp->control);
    CHECK(rc_of(qp)->route == NULL);
    atomic_store(&qp->introduce_at_ns, UINT64_MAX); /* not before */
    pthread_mutex_unlock(&qp->control);
    CHECK_EQ(listen(fd, 1), 0);
    struct errand errand = { INTRODUCTION, qp->ibv.qp_num, qpn, IBV_QPT_RC };
    send_all(liar_socket, &errand, sizeof(errand));
    receive_all(liar_socket, &byte, 1);
    CHECK_EVENTUALLY(has_route(qp));
    CHECK(holds_introduction(qp));
    send_all(liar_socket, &byte, 1);
    receive_all(liar_socket, &byte, 1);
    end_close(&a);
    close(fd);
}

/* A thread that polls is not to look like one that does not. */
static void a_stranger_does_not_have_the_engine_work_in_place_of_a_thread_that_polls(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    await_introductions(&a, &b);
    atomic_store(&watch_suspended, true);
    atomic_store(&cq_overdue_suspended, true);
    hold_engine();
    poll_until_believed(b.recv_cq);
    release_engine();
    struct address from = end_address(&b);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_READ, 0, 0, 8, &from, 0), 0);
    struct errand errand = { NUDGE, b.qp->qp_num, 0, IBV_QPT_RC };
    send_all(liar_socket, &errand, sizeof(errand));
    char done;
    receive_all(liar_socket, &done, 1);
    expect_nothing(a.send_cq);
    CHECK(cq_is_polled(cq_of(b.recv_cq)));
    atomic_store(&cq_overdue_suspended, false);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS); /* completed by a nudge of its own */
    atomic_store(&watch_suspended, false);
    pair_close(&a, &b);
}

int main(void) {
    liar_pid = spawn(lie, &liar_socket);
    receive_all(liar_socket, &liar_qpn, sizeof(liar_qpn));
    pair_open(&bystander_a, &bystander_b, &defaults);
    RUN(malformed_messages_end_the_link_only);
    RUN(forged_descriptors_fail_the_queue_pair_only);
    RUN(forged_answers_fail_the_queue_pair_only);
    RUN(a_descriptor_that_is_no_doorbell_fails_the_queue_pair_only);
    RUN(forged_descriptors_fail_an_unreliable_connection_too);
    RUN(forged_descriptors_fail_an_initiator_too);
    RUN(a_notify_area_shown_by_another_process_does_not_take_over_the_doorbells);
    RUN(a_stranger_does_not_take_the_place_of_the_peer);
    RUN(a_stranger_does_not_take_the_place_of_a_peer_that_comes_later);
    RUN(a_stranger_does_not_have_the_engine_work_in_place_of_a_thread_that_polls);
    RUN(noise_does_no_harm);
    struct errand home = { -1, 0, 0, 0 };
    send_all(liar_socket, &home, sizeof(home));
    expect_exit(liar_pid, 0);
    pair_close(&bystander_a, &bystander_b);
    return 0;
}
