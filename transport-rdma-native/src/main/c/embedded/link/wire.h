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
 * Protocol of two processes of the provider for queue pairs: messages on their link, and the layout of shared memory.
 * One side writes, and the other side reads and trusts nothing.
 *
 *   WIRE_NOTIFY_AREA  once a link and direction, with two descriptors and no body: the memory of the sender's notify
 *                area (notify_area.h) and the doorbell of its engine (doorbells: own_doorbell.h)
 *   WIRE_ATTACH  a queue pair reached RTR: its segment, and the completion queues (with the doorbells of their
 *                channels, if the receiver may not have them) to signal
 *   WIRE_SLOTS   the answer: the ticks of the answerer's notify area that announce work of this queue pair, and the
 *                doorbells that the answerer lacks: WIRE_ATTACH is repeated with these
 *   WIRE_NUDGE   work published for the queue pair has not been taken for some time: the engine should do it
 *   WIRE_FLOW_   one direction from a datagram queue pair to another one: flow.h
 *   WIRE_WISH    the sender's targets of this queue pair are memory of a device
 *   WIRE_LEND    memory of a device that the receiver may open, and WIRE_LOAN: device/lending.h
 *   WIRE_LEAVE   the sender does not need a segment of the receiver any more, and WIRE_ARENA_END: arena.h
 *
 * A segment has two streams of descriptors, each with its own slab for payload: requests, and responses to the peer's
 * READs and atomics. The streams are separate because a response must not wait behind requests that the peer cannot
 * take yet (no receive posted). The control words of all segments of an arena are in its first page. An idle connection
 * takes no other memory, because the peer reads a segment only after its control words say that something is published.
 */
#ifndef NETTY_RDMA_EMBEDDED_WIRE_H
#define NETTY_RDMA_EMBEDDED_WIRE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "link.h"

enum wire_message {
    WIRE_NOTIFY_AREA = LINK_QP_FIRST,
    WIRE_ATTACH,
    WIRE_SLOTS,
    WIRE_FLOW_OPEN,
    WIRE_FLOW_ACCEPT,
    WIRE_FLOW_SLOT,
    WIRE_FLOW_ROOM,
    WIRE_FLOW_REFUSE,
    WIRE_FLOW_CLOSE,
    WIRE_LEAVE,
    WIRE_ARENA_END,
    WIRE_NUDGE,
    WIRE_WISH,
    WIRE_LEND,
    WIRE_LOAN,
};

/*
 * Body of WIRE_LEAVE and WIRE_ARENA_END, and a part of introductions: a segment, and the number of its arena's
 * segments.
 */
struct wire_place {
    uint32_t arena, segment, segments;
};

/*
 * Introduction of a queue pair. Descriptors, as `carries` says: arena, doorbell of the receive CQ's channel, doorbell
 * of the send CQ's channel.
 */
struct wire_attach {
    uint32_t src_qpn, dst_qpn;
    uint32_t recv_cq, send_cq;       /* index of the word on the sender's notify area */
    uint32_t recv_cq_id, send_cq_id; /* never reused, unlike the index */
    uint32_t type;                   /* type of the sender's queue pair: enum ibv_qp_type */
    uint32_t carries;
    struct wire_place place;
};
#define WIRE_ARENA 1u
#define WIRE_RECV_DOORBELL 2u
#define WIRE_SEND_DOORBELL 4u

struct wire_slots {
    uint32_t src_qpn, dst_qpn;
    uint32_t recv_bank, recv_slot;
    uint32_t send_bank, send_slot;
    uint32_t wants; /* WIRE_RECV_DOORBELL, WIRE_SEND_DOORBELL */
};

struct wire_nudge {
    uint32_t dst_qpn;
};

/* Wishes of the receiver of a stream, for its writer. */
struct wire_wish {
    uint32_t dst_qpn;
    uint32_t wishes;
};
#define WIRE_WISH_LONG 1u       /* long pieces: each takes a driver's time */
#define WIRE_WISH_REFERENCES 2u /* references to memory of devices in place of their bytes */

/* Offer of an allocation in memory of a device. */
struct wire_lend {
    uint64_t number; /* number of the loan: not 0, and never used for another loan of the sender */
    uint64_t length;
    char client[16]; /* name of the client that exports the allocation and of the one that imports it, with a NUL */
    uint8_t handle[128];
};

enum wire_loan_state { WIRE_LOAN_TAKEN, WIRE_LOAN_REFUSED, WIRE_LOAN_RECALLED, WIRE_LOAN_RETURNED, WIRE_LOAN_STATES };

struct wire_loan {
    uint64_t number;
    uint32_t state; /* enum wire_loan_state: RECALLED is sent by the lender, and the others by the borrower */
    uint32_t error; /* errno of REFUSED, for a message to a person */
};

/*
 * Body of all messages about flows; `src` is the end that sends datagrams. Descriptors, as `carries` says: OPEN and
 * ACCEPT: arena; ACCEPT: doorbell of the receive CQ's channel. Only `control` of the receiver's segment is used.
 */
struct wire_flow {
    uint32_t src_qpn, dst_qpn, id;
    uint32_t carries;        /* OPEN, ACCEPT only */
    struct wire_place place; /* OPEN, ACCEPT only */
    uint32_t cq, cq_id;      /* ACCEPT only */
    uint32_t bank, slot;     /* SLOT only */
};

enum wire_op {
    WIRE_SEND = 1,
    WIRE_SEND_IMM,
    WIRE_WRITE,
    WIRE_WRITE_IMM,
    WIRE_SEND_INV,
    WIRE_READ, /* READ and atomics are answered */
    WIRE_FETCH_ADD,
    WIRE_CMP_SWAP,
    WIRE_RESPONSE, /* the only one in the response stream */
};

#define WIRE_FIRST 1u
#define WIRE_LAST 2u
#define WIRE_SOLICITED 4u
#define WIRE_ACK 8u /* the sender wants to be woken by the acknowledgement */

#define WIRE_GRH 16u      /* datagrams: a global routing header comes before the data */
#define WIRE_MULTICAST 32u /* datagrams: the destination of the GRH is a group */

#define WIRE_DESC_SIZE 256
#define WIRE_INLINE_SIZE (WIRE_DESC_SIZE - sizeof(struct wire_desc))
#define WIRE_INLINE UINT32_MAX /* value of `slab`: the payload follows the descriptor */
#define WIRE_REFERENCE (UINT32_MAX - 1) /* value of `slab`: struct wire_reference to the payload follows */
#define WIRE_MAX_MESSAGE (1u << 30)

struct wire_desc {
    _Atomic uint32_t sequence; /* position in the stream + 1; written last */
    uint8_t op;
    uint8_t flags;
    uint16_t reserved; /* datagrams: service level */
    uint32_t length; /* payload of this descriptor */
    uint32_t slab;   /* offset of the payload */
    uint32_t total;  /* payload of the message */
    uint32_t imm;    /* network order, as in ibv_send_wr; WIRE_SEND_INV: the key to invalidate */
    uint32_t rkey; /* datagrams: queue key */
    uint32_t srqn; /* XRC: the shared receive queue, whatever the operation; else 0 */
    uint64_t remote_address;
    uint64_t operand[2]; /* atomics: add or compare, swap */
};

/* Payload in memory of a device that the sender has lent. */
struct wire_reference {
    uint64_t loan, offset;
};

struct wire_slot {
    struct wire_desc desc;
    uint8_t payload[WIRE_INLINE_SIZE];
};
_Static_assert(sizeof(struct wire_slot) == WIRE_DESC_SIZE, "payload fills the slot");

enum wire_stream { WIRE_REQUESTS, WIRE_RESPONSES, WIRE_STREAMS };

#define WIRE_REQUEST_SLOTS 64u
#define WIRE_RESPONSE_SLOTS 16u
#define WIRE_REQUEST_SLAB (256u << 10)
#define WIRE_RESPONSE_SLAB (256u << 10)
#define WIRE_CHUNK (32u << 10)
#define WIRE_DEVICE_CHUNK (64u << 10) /* piece of a device's memory: each copy takes a driver's time */
#define WIRE_DEVICE_PIECES 4u /* pieces of a device's memory that are copied at the same time; they fill a slab */
#define WIRE_REFERENCE_CHUNK (8u << 20) /* piece by reference */

/* Status of the request after the acknowledged ones. All but WIRE_RNR are final. */
enum wire_status {
    WIRE_OK,
    WIRE_RNR,
    WIRE_INVALID_REQUEST,
    WIRE_ACCESS_ERROR,
    WIRE_OPERATION_ERROR,
    WIRE_SOURCE_GONE, /* memory that the sender has lent */
    WIRE_STATUS_LIMIT,
};

/* Acknowledgement: number of consumed descriptors of the peer's stream, and the status of the next one. */
#define WIRE_ACK_WORD(count, status) ((uint64_t) (status) << 32 | (uint32_t) (count))
#define WIRE_ACK_COUNT(word) ((uint32_t) (word))
#define WIRE_ACK_STATUS(word) ((uint32_t) ((word) >> 32))

/* Bits of `direct`: requests of the other end, and acknowledgements and responses of the other end. */
#define WIRE_DIRECT_REQUESTS 1u
#define WIRE_DIRECT_RESULTS 2u

struct wire_control {
    _Atomic uint32_t dead; /* the queue pair left RTS/RTR: ignore what it has published */
    _Atomic uint32_t min_rnr_timer;
    /* WIRE_DIRECT_...: work that polls of this end find directly, so that it needs no tick */
    _Atomic uint32_t direct;
    _Atomic uint32_t begun[WIRE_STREAMS]; /* not 0 from the first descriptor on */
    struct {
        _Alignas(64) _Atomic uint64_t ack;  /* WIRE_ACK_WORD of the peer's stream */
        _Alignas(64) _Atomic uint32_t want; /* position of the own stream at whose acknowledgement to wake this end */
    } stream[WIRE_STREAMS];
};

/* Segment of a queue pair or flow. Reading a page that was never written also allocates it. */
struct wire_segment {
    _Alignas(4096) struct wire_slot request[WIRE_REQUEST_SLOTS];
    _Alignas(4096) struct wire_slot response[WIRE_RESPONSE_SLOTS];
    _Alignas(4096) uint8_t request_slab[WIRE_REQUEST_SLAB];
    _Alignas(4096) uint8_t response_slab[WIRE_RESPONSE_SLAB];
};

#define WIRE_ARENA_SEGMENTS 8u

/* Memory of an arena. The introduction says how many segments it has. */
struct wire_arena {
    _Alignas(4096) struct wire_control control[WIRE_ARENA_SEGMENTS];
    struct wire_segment segment[];
};
_Static_assert(sizeof(struct wire_arena) == 4096, "control words of all segments are in one page");

static inline size_t wire_arena_size(uint32_t segments) {
    return sizeof(struct wire_arena) + segments * sizeof(struct wire_segment);
}

#endif
