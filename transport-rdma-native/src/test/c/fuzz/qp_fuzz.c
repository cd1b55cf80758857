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
 * A connected queue pair and a peer that writes anything into the shared memory: descriptors, acknowledgements,
 * answers, ticks, the words of its notify area; and introduces itself in any way. The victim posts, polls and changes
 * state meanwhile.
 *
 * Beside what the sanitizers find: memory that was not offered does not change and is not disclosed; what is posted
 * completes once and in order; what no honest peer publishes is never acknowledged, and no acknowledgement of what was
 * not published is taken; no message has more or fewer bytes than it said; a bystander goes on.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "embedded/device/lending.h"
#include "embedded/embedded.h"
#include "embedded/rc/rc.h"
#include "embedded/link/wire.h"
#include "embedded/software_device.h"
#include "engine_by_hand.h"
#include "fuzz.h"
#include "pair.h"
#include "peer.h"
#include "provider.h"

#define SECRET UINT64_C(0x5ec2e75ec2e75ec2)
#define REGION (UINT32_C(64) << 10)
#define LARGE (UINT32_C(512) << 10)
#define SLOTS 32
#define RECEIVE_SIZE (REGION / SLOTS)
#define WRS 64
#define MAX_COMMANDS 96

enum region_name { OPEN, READABLE, RECEIVES, LANDING, PRIVATE, STRANGE, TEMPORARY, REGIONS };

static struct region {
    uint8_t *memory;
    uint32_t size;
    int access;
    struct ibv_mr *mr;
} regions[REGIONS] = {
    [OPEN] = { .size = LARGE, .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ
                                        | IBV_ACCESS_REMOTE_ATOMIC },
    [READABLE] = { .size = REGION, .access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND },
    [RECEIVES] = { .size = REGION, .access = IBV_ACCESS_LOCAL_WRITE },
    [LANDING] = { .size = REGION, .access = IBV_ACCESS_LOCAL_WRITE },
    [PRIVATE] = { .size = 4096, .access = IBV_ACCESS_LOCAL_WRITE },
    [STRANGE] = { .size = 4096, .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ },
    [TEMPORARY] = { .size = 4096, .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ },
};

/* The temporary region is of the host or of a device, which ends the run if it is asked for more than the region. */
_Static_assert(TEMPORARY == REGIONS - 1, "open_regions() keeps the memory of the last region");
static uint8_t *temporary_memory;
static struct software_device device;
static struct software_memory *device_memory;

static struct ibv_context *context;
static struct ibv_pd *pd, *other_pd;
static struct ibv_xrcd *xrcd, *other_xrcd;
static struct ibv_srq *other_srq; /* shared receive queue of another domain: no target of the victim is to find it */
static struct ibv_comp_channel *channel;
static struct end bystander_a, bystander_b;

/* ---- the victim ---- */

static struct {
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_srq *srq;
    uint32_t srqn; /* XRC */
    struct ibv_qp *qp;
    struct ibv_mw *window; /* window on READABLE, for reading, now and then */
    uint32_t sends, sends_done, recvs, recvs_done;
    uint32_t length[WRS * 4]; /* lengths of the receives */
    uint32_t successes;
} victim;

static void fill_secret(uint8_t *memory, size_t size) {
    const uint64_t secret = SECRET;
    for (size_t i = 0; i < size; i += sizeof(secret)) {
        memcpy(memory + i, &secret, sizeof(secret));
    }
}

static bool is_all(const uint8_t *memory, size_t size, uint8_t value) {
    return size == 0 || (memory[0] == value && memcmp(memory, memory + 1, size - 1) == 0);
}

static bool is_secret(const uint8_t *memory, size_t size) {
    const uint64_t secret = SECRET;
    return memcmp(memory, &secret, sizeof(secret)) == 0 && memcmp(memory, memory + 8, size - 8) == 0;
}

static void open_regions(void) {
    software_start(&device);
    CHECK_EQ(rdma_peer_memory_register_client(&device.client), 0);
    device_memory = software_allocate(&device, regions[TEMPORARY].size);
    CHECK(device_memory != NULL);
    for (int i = 0; i < REGIONS; i++) {
        struct region *r = &regions[i];
        r->memory = malloc(r->size);
        CHECK(r->memory != NULL);
        memset(r->memory, 0, r->size);
        temporary_memory = r->memory; /* of the last region */
        if (i == PRIVATE || i == STRANGE) {
            fill_secret(r->memory, r->size);
        }
        r->mr = i == TEMPORARY ? NULL : ibv_reg_mr(i == STRANGE ? other_pd : pd, r->memory, r->size, r->access);
    }
}

static uint32_t key_of(uint8_t which) {
    const struct ibv_mr *mr = regions[which % REGIONS].mr;
    return mr == NULL ? 0 : mr->rkey;
}

static uint64_t address_in(uint8_t which, uint32_t offset) {
    return (uintptr_t) regions[which % REGIONS].memory + offset;
}

static void check_completion(const struct ibv_wc *wc) {
    bool is_send = (wc->wr_id & 1) == 0;
    uint32_t number = (uint32_t) (wc->wr_id >> 1);
    CHECK((int) wc->status >= IBV_WC_SUCCESS && wc->status <= IBV_WC_GENERAL_ERR);
    CHECK_EQ(wc->qp_num, victim.qp->qp_num);
    victim.successes += wc->status == IBV_WC_SUCCESS;
    if (is_send) {
        CHECK_EQ(number, victim.sends_done);
        CHECK(victim.sends_done++ < victim.sends);
        return;
    }
    CHECK(victim.recvs_done < victim.recvs);
    if (victim.srq == NULL) {
        CHECK_EQ(number, victim.recvs_done);
    }
    victim.recvs_done++;
    if (wc->status != IBV_WC_SUCCESS) {
        return;
    }
    CHECK(wc->opcode == IBV_WC_RECV || wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM);
    if (wc->opcode == IBV_WC_RECV) {
        uint32_t length = victim.length[number % (WRS * 4)];
        CHECK(wc->byte_len <= length);
    }
}

static void poll_cq(struct ibv_cq *cq, int most) {
    struct ibv_wc wc[8];
    int n;
    while (most > 0 && (n = cq->context->ops.poll_cq(cq, most < 8 ? most : 8, wc)) > 0) {
        for (int i = 0; i < n; i++) {
            check_completion(&wc[i]);
        }
        most -= n;
    }
}

static void poll_all(int most) {
    poll_cq(victim.recv_cq, most);
    if (victim.send_cq != victim.recv_cq) {
        poll_cq(victim.send_cq, most);
    }
}

static void victim_recv(uint32_t length, int sges) {
    uint32_t number = victim.recvs % SLOTS;
    if (victim.recvs - victim.recvs_done >= SLOTS) {
        return; /* each has memory of its own */
    }
    length = length > RECEIVE_SIZE ? RECEIVE_SIZE : length;
    struct ibv_sge list[3];
    sges = length < 3 ? (length > 0) : 1 + sges % 3;
    uint32_t done = 0;
    for (int i = 0; i < sges; i++) {
        uint32_t part = i == sges - 1 ? length - done : length / (uint32_t) sges;
        list[i] = (struct ibv_sge) {
            address_in(RECEIVES, number * RECEIVE_SIZE + done), part, regions[RECEIVES].mr->lkey,
        };
        done += part;
    }
    struct ibv_recv_wr wr = { .wr_id = (uint64_t) victim.recvs << 1 | 1, .sg_list = list, .num_sge = sges }, *bad;
    memset(regions[RECEIVES].memory + number * RECEIVE_SIZE, 0, RECEIVE_SIZE);
    int error = victim.srq != NULL ? context->ops.post_srq_recv(victim.srq, &wr, &bad)
                                   : context->ops.post_recv(victim.qp, &wr, &bad);
    if (error == 0) {
        victim.length[victim.recvs % (WRS * 4)] = length;
        victim.recvs++;
    }
}

static void victim_send(void) {
    static const enum ibv_wr_opcode opcodes[] = {
        IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
        IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_BIND_MW,
    };
    uint8_t kind = input_u8(), flags = input_u8();
    uint32_t length = input_length();
    enum ibv_wr_opcode opcode = kind % 16 == 15 ? IBV_WR_LOCAL_INV : opcodes[kind & 7];
    bool writes = opcode == IBV_WR_RDMA_READ || kind % 8 == 5 || kind % 8 == 6;
    uint32_t slot = victim.sends % SLOTS, room = REGION / SLOTS;
    struct ibv_sge sge = { address_in(OPEN, 0), length > LARGE ? LARGE : length, regions[OPEN].mr->lkey };
    if (writes) {
        sge = (struct ibv_sge) {
            address_in(LANDING, slot * room), length > room ? room : length, regions[LANDING].mr->lkey,
        };
    }
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        sge.length = 8;
    }
    if ((flags & 32) != 0) {
        sge.lkey = key_of(flags >> 6) + (flags >> 7); /* wrong ones, too */
    }
    struct ibv_send_wr wr = {
        .wr_id = (uint64_t) victim.sends << 1, .sg_list = &sge, .num_sge = sge.length > 0, .opcode = opcode,
        .send_flags = IBV_SEND_SIGNALED | ((flags & 1) != 0 && sge.length <= 256 && !writes ? IBV_SEND_INLINE : 0)
                | ((flags & 2) != 0 ? IBV_SEND_FENCE : 0) | ((flags & 4) != 0 ? IBV_SEND_SOLICITED : 0),
    }, *bad;
    wr.wr.rdma.remote_addr = 0x10000;
    wr.wr.rdma.rkey = 7;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        wr.wr.atomic.remote_addr = 0x10000;
        wr.wr.atomic.rkey = 7;
    }
    if (opcode == IBV_WR_BIND_MW) {
        wr.bind_mw.mw = victim.window;
        wr.bind_mw.rkey = victim.window->rkey; /* always the same, so that the peer knows it */
        wr.bind_mw.bind_info = (struct ibv_mw_bind_info) {
            regions[READABLE].mr, address_in(READABLE, length), REGION / 2, IBV_ACCESS_REMOTE_READ,
        };
    } else if (opcode == IBV_WR_LOCAL_INV) {
        wr.invalidate_rkey = victim.window->rkey;
    }
    if (victim.sends - victim.sends_done < SLOTS && context->ops.post_send(victim.qp, &wr, &bad) == 0) {
        victim.sends++;
    }
}

static int modify(enum ibv_qp_state state, int more, struct ibv_qp_attr attr) {
    attr.qp_state = state;
    return ibv_modify_qp(victim.qp, &attr, IBV_QP_STATE | more);
}

static struct ibv_qp_attr attributes;

static void to_init(uint8_t access) {
    attributes = (struct ibv_qp_attr) {
        .port_num = 1,
        .qp_access_flags = (access & 8) != 0 ? 0 : (unsigned) regions[OPEN].access,
    };
    CHECK_EQ(modify(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, attributes), 0);
}

static void to_rtr(uint8_t options) {
    struct ibv_port_attr port;
    end_query_port(&bystander_a, &port);
    attributes.path_mtu = port.active_mtu;
    attributes.dest_qp_num = PEER_QPN;
    attributes.max_dest_rd_atomic = (options & 1) != 0 ? 0 : 16;
    attributes.min_rnr_timer = 1;
    attributes.ah_attr = (struct ibv_ah_attr) { .dlid = port.lid, .port_num = 1 };
    int reliable = victim.qp->qp_type == IBV_QPT_UC ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    CHECK_EQ(modify(IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | reliable,
                    attributes), 0);
}

static void to_rts(uint8_t options) {
    attributes.timeout = (options & 2) != 0 ? 10 : 20;
    attributes.retry_cnt = options >> 2 & 7;
    attributes.rnr_retry = options >> 5 & 7;
    attributes.max_rd_atomic = (options & 4) != 0 ? 2 : 16;
    int reliable = victim.qp->qp_type == IBV_QPT_UC ? 0
            : IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    modify(IBV_QPS_RTS, IBV_QP_SQ_PSN | reliable, attributes);
}

static void take_async_events(void) {
    struct ibv_async_event event;
    while (ibv_get_async_event(context, &event) == 0) {
        ibv_ack_async_event(&event);
    }
}

static void take_channel_events(void) {
    struct ibv_cq *cq;
    void *unused;
    while (ibv_get_cq_event(channel, &cq, &unused) == 0) {
        ibv_ack_cq_events(cq, 1);
    }
}

static struct ibv_srq *make_xrc_srq(struct ibv_pd *domain, struct ibv_xrcd *of, struct ibv_cq *cq) {
    struct ibv_srq_init_attr_ex init = {
        .attr = { .max_wr = WRS, .max_sge = 3 }, .srq_type = IBV_SRQT_XRC, .pd = domain, .xrcd = of, .cq = cq,
        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
    };
    struct ibv_srq *srq = ibv_create_srq_ex(context, &init);
    CHECK(srq != NULL);
    return srq;
}

static struct ibv_xrcd *open_xrcd(void) {
    struct ibv_xrcd_init_attr init = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT,
    };
    struct ibv_xrcd *opened = ibv_open_xrcd(context, &init);
    CHECK(opened != NULL);
    return opened;
}

static void open_victim(uint8_t kind) {
    memset(&victim, 0, sizeof(victim));
    memset(regions[RECEIVES].memory, 0, REGION);
    memset(regions[LANDING].memory, 0, REGION);
    struct ibv_comp_channel *own = (kind & 1) != 0 ? channel : NULL;
    victim.recv_cq = victim.send_cq = ibv_create_cq(context, 256, NULL, own, 0);
    if ((kind & 2) != 0) {
        victim.send_cq = ibv_create_cq(context, 256, NULL, own, 0);
    }
    bool is_target = (kind & 192) == 128, is_initiator = (kind & 192) == 192;
    if (is_target) {
        victim.srq = make_xrc_srq(pd, xrcd, victim.recv_cq);
        CHECK_EQ(ibv_get_srq_num(victim.srq, &victim.srqn), 0);
    } else if ((kind & 4) != 0 && !is_initiator) {
        struct ibv_srq_init_attr init = { .attr = { .max_wr = WRS, .max_sge = 3 } };
        victim.srq = ibv_create_srq(pd, &init);
        CHECK(victim.srq != NULL);
    }
    struct ibv_qp_init_attr init = {
        .send_cq = victim.send_cq, .recv_cq = victim.recv_cq, .srq = victim.srq, .sq_sig_all = 1,
        .qp_type = is_initiator ? IBV_QPT_XRC_SEND : (kind & 64) != 0 ? IBV_QPT_UC : IBV_QPT_RC,
        .cap = { .max_send_wr = WRS, .max_recv_wr = WRS, .max_send_sge = 3, .max_recv_sge = 3, .max_inline_data = 256 },
    };
    struct ibv_qp_init_attr_ex target = {
        .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd,
    };
    victim.qp = is_target ? ibv_create_qp_ex(context, &target) : ibv_create_qp(pd, &init);
    CHECK(victim.qp != NULL);
    victim.window = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
    CHECK(victim.window != NULL);
    if ((kind & 16) != 0 && victim.srq == NULL) { /* inline_recv.c */
        uint32_t bytes = (kind & 32) != 0 ? REGION : 64;
        CHECK_EQ(embedded_ext_set_inline_recv(victim.qp, &bytes), 0);
        CHECK(bytes <= DEVICE_MAX_INLINE_RECV);
    }
    struct region *r = &regions[TEMPORARY];
    r->memory = (kind & 48) == 32 ? (uint8_t *) device_memory->address : temporary_memory;
    r->mr = ibv_reg_mr(pd, r->memory, r->size, r->access);
    CHECK(r->mr != NULL);
}

/* ---- the peer ---- */

#define NEVER UINT32_MAX

static uint32_t position[WIRE_STREAMS], served, ack_count;
static struct wire_segment *segment;
static struct wire_control *control; /* control words of the segment */
static uint32_t lie[WIRE_STREAMS]; /* the position of the first descriptor that no honest peer publishes, or NEVER */
static bool lends;       /* the peer has offered memory of a device, to which its requests may refer */
static bool overwritten; /* descriptors that were published before may have changed */

static uint64_t last_loan; /* number of what the victim has offered last */

static void note_loan(int link, unsigned type, const void *body, size_t length) {
    (void) link;
    if (type == WIRE_LEND && length == sizeof(struct wire_lend)) {
        last_loan = ((const struct wire_lend *) body)->number;
    }
}

static struct wire_slot *slot_of(enum wire_stream stream, uint32_t pos) {
    return stream == WIRE_REQUESTS ? &segment->request[pos % WIRE_REQUEST_SLOTS]
                                   : &segment->response[pos % WIRE_RESPONSE_SLOTS];
}

/* A lie does not depend on earlier descriptors. */
static bool is_lie(enum wire_stream stream, const struct wire_desc *desc) {
    bool is_first = (desc->flags & WIRE_FIRST) != 0, is_last = (desc->flags & WIRE_LAST) != 0;
    uint32_t slab = stream == WIRE_REQUESTS ? WIRE_REQUEST_SLAB : WIRE_RESPONSE_SLAB;
    if (desc->slab == WIRE_REFERENCE ? desc->length == 0
            : desc->slab == WIRE_INLINE ? desc->length > WIRE_INLINE_SIZE
                                  : desc->length > slab || desc->slab > slab - desc->length) {
        return true;
    }
    if (stream == WIRE_RESPONSES) {
        return desc->op != WIRE_RESPONSE || desc->length > REGION / SLOTS; /* more than the victim ever reads */
    }
    enum ibv_qp_type type = victim.qp->qp_type;
    if (desc->op < WIRE_SEND || desc->op > WIRE_CMP_SWAP || desc->total > WIRE_MAX_MESSAGE || type == IBV_QPT_XRC_SEND
            || (type != IBV_QPT_XRC_RECV && desc->srqn != 0)) {
        return true;
    }
    return desc->op >= WIRE_READ ? !is_first || !is_last || desc->length != 0
            : desc->length > desc->total || (is_first && is_last != (desc->length == desc->total));
}

static void publish(enum wire_stream stream, const struct wire_desc *desc, int8_t skew) {
    uint32_t pos = position[stream] + (uint32_t) skew;
    overwritten |= skew != 0;
    if (lie[stream] == NEVER && is_lie(stream, desc)) {
        lie[stream] = pos;
    }
    struct wire_slot *slot = slot_of(stream, pos);
    memcpy(&slot->desc, desc, sizeof(*desc));
    atomic_store(&slot->desc.sequence, pos + 1);
    atomic_store(&control->begun[stream], 1);
    position[stream] += skew == 0;
}

/* Writes what the next descriptor refers to. */
static void refer(enum wire_stream stream, int8_t skew) {
    struct wire_reference reference = { .loan = 1 + input_u8() % 4, .offset = input_u8() };
    if (input_u8() % 4 == 0) {
        input_patch(&reference, sizeof(reference));
    }
    memcpy(slot_of(stream, position[stream] + (uint32_t) skew)->payload, &reference, sizeof(reference));
}

static void tell_victim(void) {
    peer_tick(0, 0);
    engine_run();
}

/* 0 if the victim is no target. */
static uint32_t srqn_of(uint8_t target) {
    uint32_t other;
    CHECK_EQ(ibv_get_srq_num(other_srq, &other), 0);
    return victim.qp->qp_type != IBV_QPT_XRC_RECV ? 0 : (target & 128) != 0 ? other : victim.srqn;
}

static void publish_request(void) {
    static const uint8_t ops[] = { /* in this order, or the corpus says something else */
        WIRE_SEND, WIRE_SEND_IMM, WIRE_WRITE, WIRE_WRITE_IMM, WIRE_READ, WIRE_FETCH_ADD, WIRE_CMP_SWAP, WIRE_SEND_INV,
    };
    uint8_t op = ops[input_u8() % sizeof(ops)], flags = input_u8(), target = input_u8();
    uint32_t total = input_length(), offset = input_length();
    bool answered = op >= WIRE_READ;
    struct wire_desc desc = {
        .op = op, .flags = (flags & 15) ^ (WIRE_FIRST | WIRE_LAST), .total = total, .length = answered ? 0 : total,
        .slab = (flags & 16) != 0 && total <= WIRE_INLINE_SIZE ? WIRE_INLINE : 0,
        .rkey = (target & 64) != 0 ? victim.window->rkey : key_of(target), .remote_address = address_in(target, offset),
        .operand = { 1, 2 }, .imm = victim.window->rkey, .srqn = srqn_of(target),
    };
    if ((flags & 2) != 0 && !answered) { /* not the last piece */
        desc.length = total < WIRE_CHUNK ? total / 2 : WIRE_CHUNK;
    } else if ((flags & 1) != 0 && !answered) { /* nor the first */
        desc.length = total < WIRE_CHUNK ? total - total / 2 : total - WIRE_CHUNK;
    }
    if ((flags & 128) != 0) { /* wrong length */
        desc.length += (uint32_t) (int8_t) input_u8();
    }
    if ((flags & 32) != 0) {
        input_patch(&desc, sizeof(desc));
    }
    int8_t skew = (flags & 64) != 0 ? (int8_t) input_u8() : 0;
    if (lends && (target & 32) != 0) {
        desc.slab = WIRE_REFERENCE;
        refer(WIRE_REQUESTS, skew);
    }
    publish(WIRE_REQUESTS, &desc, skew);
    tell_victim();
}

static void publish_response(void) {
    uint8_t flags = input_u8();
    uint32_t length = input_length();
    struct wire_desc desc = {
        .op = WIRE_RESPONSE, .flags = (flags & 15) ^ WIRE_LAST, .length = length,
        .slab = (flags & 16) != 0 ? WIRE_INLINE : 0,
    };
    if ((flags & 32) != 0) {
        input_patch(&desc, sizeof(desc));
    }
    int8_t skew = (flags & 64) != 0 ? (int8_t) input_u8() : 0;
    if (lends && (flags & 128) != 0) {
        desc.slab = WIRE_REFERENCE;
        refer(WIRE_RESPONSES, skew);
    }
    publish(WIRE_RESPONSES, &desc, skew);
    tell_victim();
}

/* The victim goes on only if it is told of no more than it has published. */
static void check_acknowledged(void) {
    const struct qp *qp = qp_of_handle(victim.qp);
    enum ibv_qp_state state = qp_state(qp);
    if (rc_of(qp)->attached != NULL && !qp->failed && (state == IBV_QPS_RTR || qp_sends_in(state))) {
        uint64_t word = atomic_load(&rc_of(qp)->attached->control->stream[WIRE_REQUESTS].ack);
        CHECK_EQ(WIRE_ACK_COUNT(word), rc_of(qp)->out.acked);
    }
}

static void acknowledge(void) {
    uint8_t how = input_u8();
    enum wire_stream stream = how & 1;
    uint32_t status = how >> 4 & 7;
    uint32_t count = (how & 2) != 0 ? input_u32() : ack_count + (uint32_t) (int8_t) input_u8();
    const struct producer *out = &rc_of(qp_of_handle(victim.qp))->out;
    bool is_unsent = stream == WIRE_REQUESTS && count - out->acked > out->prod - out->acked;
    ack_count = stream == WIRE_REQUESTS ? count : ack_count;
    atomic_store(&control->stream[stream].ack, WIRE_ACK_WORD(count, status));
    tell_victim();
    if (is_unsent) {
        qp_kick(qp_of_handle(victim.qp), QP_WORK_ALL); /* the victim may not have looked yet */
        check_acknowledged();
    }
}

/* Serves like an honest peer: takes published requests of the victim, and answers. */
static void serve(uint32_t most) {
    if (peer_heard.segment == NULL) {
        return;
    }
    for (; most > 0; most--) {
        const struct wire_slot *slot = &peer_heard.segment->request[served % WIRE_REQUEST_SLOTS];
        if (atomic_load(&slot->desc.sequence) != served + 1) {
            break;
        }
        uint32_t left = slot->desc.op == WIRE_READ ? slot->desc.total : 8;
        CHECK(slot->desc.op >= WIRE_SEND && slot->desc.op <= WIRE_CMP_SWAP);
        while (slot->desc.op >= WIRE_READ) {
            uint32_t length = left > WIRE_CHUNK ? WIRE_CHUNK : left;
            left -= length;
            const struct wire_desc desc = {
                .op = WIRE_RESPONSE, .flags = left == 0 ? WIRE_LAST : 0, .length = length, .slab = 0,
            };
            publish(WIRE_RESPONSES, &desc, 0);
            tell_victim();
            if (left == 0) {
                break;
            }
        }
        ack_count = ++served;
        atomic_store(&control->stream[WIRE_REQUESTS].ack, WIRE_ACK_WORD(served, WIRE_OK));
    }
    /* Takes all answers to its own requests. */
    uint32_t taken = WIRE_ACK_COUNT(atomic_load(&control->stream[WIRE_RESPONSES].ack));
    while (atomic_load(&peer_heard.segment->response[taken % WIRE_RESPONSE_SLOTS].desc.sequence) == taken + 1) {
        taken++;
    }
    atomic_store(&control->stream[WIRE_RESPONSES].ack, taken);
    tell_victim();
}

static void scribble(void) {
    uint16_t place = input_u16();
    overwritten = true;
    uint64_t value = input_u64();
    if ((place & 0x8000) != 0) {
        size_t size = offsetof(struct wire_segment, request_slab) - sizeof(value);
        memcpy((uint8_t *) segment + (place & 0x7fff) % size, &value, sizeof(value));
    } else {
        memcpy((uint8_t *) control + place % (sizeof(*control) - sizeof(value)), &value, sizeof(value));
    }
    tell_victim();
}

static void write_notify_area(void) {
    uint8_t index = input_u8();
    struct notify_word *word = &peer_memory.area->cq[index % 8];
    peer_wrote(word, sizeof(*word));
    peer_wrote(&peer_memory.area->engine, sizeof(peer_memory.area->engine));
    atomic_store(&word->word, input_u16());
    atomic_store(&peer_memory.area->engine.word, index >> 4);
}

static uint32_t peer_type(void) {
    switch (victim.qp->qp_type) {
        case IBV_QPT_XRC_SEND: return IBV_QPT_XRC_RECV;
        case IBV_QPT_XRC_RECV: return IBV_QPT_XRC_SEND;
        default: return victim.qp->qp_type;
    }
}

static void introduce(int link) {
    uint8_t how = input_u8();
    struct wire_attach attach = {
        .src_qpn = PEER_QPN, .dst_qpn = victim.qp->qp_num, .send_cq = how >> 1 & 1, .recv_cq_id = 1,
        .send_cq_id = 1 + (how >> 1 & 1), .type = peer_type(),
        .carries = WIRE_ARENA | (how >> 2 & 3) * WIRE_RECV_DOORBELL,
        .place = { .arena = how & 1, .segments = 1 },
    };
    enum peer_thing things[4] = {
        (how & 1) != 0 ? THING_OTHER_SEGMENT : THING_SEGMENT, THING_DOORBELL, THING_DOORBELL,
    };
    int count = 1 + (how >> 2 & 1) + (how >> 3 & 1);
    if ((how & 16) != 0) {
        input_patch(&attach, sizeof(attach));
        things[0] = input_u8() % THINGS;
        things[1] = input_u8() % THINGS;
        count = input_u8() % 4;
    }
    peer_say(link, WIRE_ATTACH, &attach, sizeof(attach), things, count);
}

/* Tells that a segment of the victim is not looked at any more, or that an arena of the peer is at its end. */
static void tell_place(int link, uint8_t how) {
    struct wire_place place = peer_heard.attach.place;
    if ((how & 8) != 0) {
        place = (struct wire_place) { .arena = how >> 4 & 1, .segments = 1 };
    }
    if ((how & 1) != 0) {
        input_patch(&place, sizeof(place));
    }
    peer_say(link, (how & 4) != 0 ? WIRE_ARENA_END : WIRE_LEAVE, &place, sizeof(place), NULL, 0);
}

static void tell_slots(int link) {
    uint8_t how = input_u8();
    if ((how & 2) != 0) {
        tell_place(link, how);
        return;
    }
    struct wire_slots slots = {
        .src_qpn = PEER_QPN, .dst_qpn = victim.qp->qp_num, .send_slot = 1,
        .wants = (how >> 2 & 3) * WIRE_RECV_DOORBELL,
    };
    if ((how & 1) != 0) {
        input_patch(&slots, sizeof(slots));
    }
    peer_say(link, WIRE_SLOTS, &slots, sizeof(slots), NULL, 0);
}

/* Wishes, offers memory of a device, or answers an offer of the victim. */
static void tell_of_loans(int link) {
    uint8_t how = input_u8();
    struct wire_wish wish = { .dst_qpn = victim.qp->qp_num, .wishes = how >> 4 };
    struct wire_lend lend = { .number = 1 + (how >> 4 & 3), .length = device_memory->size, .client = "software" };
    struct wire_loan loan = { .number = input_u8(), .state = how >> 4 & 7 };
    const struct software_handle handle = { device_memory->size, getpid(), device_memory->file };
    memcpy(lend.handle, &handle, sizeof(handle));
    switch (how & 3) {
        case 0:
            peer_say(link, WIRE_WISH, &wish, sizeof(wish), NULL, 0);
            break;
        case 1:
            if ((how & 4) != 0) {
                input_patch(&lend, offsetof(struct wire_lend, handle));
            }
            peer_say(link, WIRE_LEND, &lend, sizeof(lend), NULL, 0);
            lends = true;
            break;
        default:
            loan.number += (how & 8) != 0 ? last_loan : 0;
            peer_say(link, WIRE_LOAN, &loan, sizeof(loan), NULL, 0);
    }
}

#define ROUTE (PEER_LINKS - 1) /* where the victim's connection to the peer is accepted */

static void meet(uint8_t how) {
    peer_listen();
    int link = ROUTE;
    if ((how & 1) != 0) {
        link = 0;
        CHECK(peer_connect_qpn(0, victim.qp->qp_num));
        peer_hello(0);
        peer_notify_area(0);
    }
    peer_hello(ROUTE);
    peer_notify_area(ROUTE);
    const struct wire_attach attach = {
        .src_qpn = PEER_QPN, .dst_qpn = victim.qp->qp_num, .recv_cq_id = 1, .send_cq_id = 1, .type = peer_type(),
        .carries = WIRE_ARENA, .place = { .segments = 1 },
    };
    const enum peer_thing thing = THING_SEGMENT;
    const struct wire_slots slots = { .src_qpn = PEER_QPN, .dst_qpn = victim.qp->qp_num, .send_slot = 1 };
    peer_say(link, WIRE_ATTACH, &attach, sizeof(attach), &thing, 1);
    peer_say(ROUTE, WIRE_SLOTS, &slots, sizeof(slots), NULL, 0);
    engine_run();
    peer_listen();
}

/* ---- a run ---- */

static void check_memory(void) {
    CHECK(is_secret(regions[PRIVATE].memory, regions[PRIVATE].size));
    CHECK(is_secret(regions[STRANGE].memory, regions[STRANGE].size));
    CHECK(is_all(regions[READABLE].memory, regions[READABLE].size, 0));
    for (uint32_t i = 0; i < SLOTS; i++) {
        /* The latest receive that had the place. */
        uint32_t latest = victim.recvs > i ? (victim.recvs - 1 - i) / SLOTS * SLOTS + i : UINT32_MAX;
        uint32_t used = latest == UINT32_MAX ? 0 : victim.length[latest % (WRS * 4)];
        CHECK(is_all(regions[RECEIVES].memory + i * RECEIVE_SIZE + used, RECEIVE_SIZE - used, 0));
    }
    for (uint32_t i = victim.sends; i < SLOTS; i++) {
        CHECK(is_all(regions[LANDING].memory + i * (REGION / SLOTS), REGION / SLOTS, 0));
    }
}

static void check_producer(const struct producer *producer, uint32_t slots) {
    CHECK(producer->prod - producer->acked <= slots);
}

/* Checks what is true of the victim whatever the peer says. */
static void check_victim(void) {
    const struct qp *qp = qp_of_handle(victim.qp);
    const struct inbound *in = &rc_of(qp)->inbound;
    check_producer(&rc_of(qp)->out, WIRE_REQUEST_SLOTS);
    check_producer(&rc_of(qp)->answers, WIRE_RESPONSE_SLOTS);
    CHECK(in->active ? in->offset <= in->total : in->offset == in->total);
    CHECK(!in->inlined || in->total <= qp->inline_recv);
    for (uint32_t i = qp->sq.done; i != atomic_load(&qp->sq.head); i++) {
        const struct send_wqe *wqe = work_queue_at(&qp->sq, i);
        CHECK(wqe->done <= wqe->total);
    }
    for (int i = 0; i < WIRE_STREAMS && peer_heard.segment != NULL && !overwritten; i++) {
        CHECK(WIRE_ACK_COUNT(atomic_load(&peer_heard.control->stream[i].ack)) <= lie[i]);
    }
}

static void check_disclosure(void) {
    if (peer_heard.segment == NULL) {
        return;
    }
    const uint64_t secret = SECRET;
    const struct wire_segment *shown = peer_heard.segment;
    CHECK(memmem(shown->response, sizeof(shown->response), &secret, sizeof(secret)) == NULL);
    CHECK(memmem(shown->response_slab, 8192, &secret, sizeof(secret)) == NULL);
}

static void command(void) {
    uint8_t code = input_u8();
    switch (code & 31) {
        case 0: case 1: case 2:
            publish_request();
            break;
        case 3:
            publish_response();
            break;
        case 4: case 5:
            acknowledge();
            break;
        case 6: case 7:
            serve(1 + (code >> 5) * 16u);
            break;
        case 8:
            scribble();
            break;
        case 9: {
            uint8_t stream = input_u8();
            atomic_store(&control->stream[stream & 1].want, input_u32());
            break;
        }
        case 10:
            atomic_store(&control->dead, input_u8());
            atomic_store(&control->min_rnr_timer, input_u8());
            tell_victim();
            break;
        case 11:
            write_notify_area();
            break;
        case 12:
            if (code >> 5 == 0) {
                tell_victim();
            } else {
                tell_of_loans(code >> 5 & 3);
                engine_run();
            }
            break;
        case 13: case 14: case 15:
            victim_send();
            break;
        case 16: case 17:
            victim_recv(input_length(), code >> 5);
            break;
        case 18: case 19:
            poll_all(1 + (code >> 5) * 8);
            break;
        case 20:
            ibv_req_notify_cq(victim.recv_cq, code >> 5 & 1);
            ibv_req_notify_cq(victim.send_cq, code >> 6 & 1);
            break;
        case 21:
            take_channel_events();
            break;
        case 22:
            if (regions[TEMPORARY].mr != NULL) {
                CHECK_EQ(ibv_dereg_mr(regions[TEMPORARY].mr), 0);
                regions[TEMPORARY].mr = NULL;
            }
            break;
        case 23:
            engine_pass(UINT64_C(1000) << (input_u8() % 24));
            break;
        case 24:
            introduce(code >> 5 & 3);
            engine_run();
            break;
        case 25:
            tell_slots(code >> 5 & 3);
            engine_run();
            break;
        case 26:
            peer_hang_up(code >> 5 & 3);
            engine_run();
            break;
        case 27:
            if (peer_connect_qpn(code >> 5 & 1, victim.qp->qp_num)) {
                peer_hello(code >> 5 & 1);
                peer_notify_area(code >> 5 & 1);
            }
            engine_run();
            break;
        case 28:
            modify(code >> 5 == 0 ? IBV_QPS_ERR : IBV_QPS_SQD, 0, attributes);
            break;
        case 29:
            modify(IBV_QPS_RTS, 0, attributes); /* out of SQD or SQE */
            break;
        case 30:
            peer_listen();
            break;
        default:
            take_async_events();
    }
    check_victim();
}

/* Closes the victim: all requests complete, if they can. */
static void close_victim(void) {
    modify(IBV_QPS_ERR, 0, attributes);
    engine_run();
    poll_all(1000);
    CHECK_EQ(victim.sends_done, victim.sends);
    if (victim.srq == NULL) {
        CHECK_EQ(victim.recvs_done, victim.recvs);
    }
    take_async_events();
    take_channel_events();
    if (victim.srqn != 0 && (victim.srqn & 1) != 0) { /* of XRC, before or after those that use it */
        CHECK_EQ(ibv_destroy_srq(victim.srq), 0);
        victim.srq = NULL;
    }
    CHECK_EQ(ibv_destroy_qp(victim.qp), 0);
    CHECK_EQ(ibv_dealloc_mw(victim.window), 0);
    take_async_events();
    if (victim.srq != NULL) {
        CHECK_EQ(ibv_destroy_srq(victim.srq), 0);
    }
    CHECK_EQ(ibv_destroy_cq(victim.send_cq), 0);
    if (victim.send_cq != victim.recv_cq) {
        CHECK_EQ(ibv_destroy_cq(victim.recv_cq), 0);
    }
    if (regions[TEMPORARY].mr != NULL) {
        CHECK_EQ(ibv_dereg_mr(regions[TEMPORARY].mr), 0);
    }
}

static void run(const uint8_t *data, size_t size) {
    input_open(data, size);
    run_seed();
    memset(position, 0, sizeof(position));
    served = ack_count = 0;
    lie[WIRE_REQUESTS] = lie[WIRE_RESPONSES] = NEVER;
    overwritten = lends = false;
    uint8_t kind = input_u8(), options = input_u8(), how = input_u8();
    open_victim(kind);
    to_init(kind);
    for (int i = 0; i < (how >> 4); i++) {
        victim_recv(RECEIVE_SIZE, i);
    }
    to_rtr(options);
    if ((how & 2) == 0) {
        meet(how);
    } else {
        peer_listen();
        peer_hello(ROUTE);
        peer_notify_area(ROUTE);
        engine_run();
    }
    if ((how & 4) == 0) {
        to_rts(options);
    }
    for (int i = 0; i < MAX_COMMANDS && input_left(); i++) {
        command();
    }
    peer_listen();
    check_disclosure();
    close_victim();
    check_memory();
    peer_forget();
    pair_talk(&bystander_a, &bystander_b);
    run_check();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void) argc;
    (void) argv;
    int gid_index;
    run_seed();
    context = open_test_device(&gid_index);
    set_non_blocking(context->async_fd);
    pd = ibv_alloc_pd(context);
    other_pd = ibv_alloc_pd(context);
    xrcd = open_xrcd();
    other_xrcd = open_xrcd();
    other_srq = make_xrc_srq(other_pd, other_xrcd, ibv_create_cq(context, 16, NULL, NULL, 0));
    channel = ibv_create_comp_channel(context);
    set_non_blocking(channel->fd);
    peer_open();
    segment = peer_memory.segment[0];
    control = peer_memory.control[0];
    open_regions();
    atomic_store(&lending_is_on, true);
    atomic_store(&lending_to_itself, true);
    atomic_store(&lending_recall_ns, 0); /* what is recalled from the peer would be waited for in vain */
    peer_on_message = note_loan;
    struct options options = defaults;
    options.cqe = 64;
    end_open(&bystander_a, &options);
    end_open(&bystander_b, &options);
    end_connect(&bystander_a, bystander_b.qp->qp_num);
    end_connect(&bystander_b, bystander_a.qp->qp_num);
    engine_run();
    /* Four receives; a SEND of 16 bytes, a WRITE, a READ; a SEND of the victim, which is served; a poll. */
    static const uint8_t honest[] = {
        0, 0, 0x40, 0, 0, 0, 0, 16, 0, 0, 0, 0, 2, 0, 0, 16, 0, 0, 0, 0, 4, 0, 0, 16, 0, 0, 0, 13, 0, 0, 16, 0, 6,
        18 | 7 << 5,
    };
    run(honest, sizeof(honest));
    CHECK_EQ(victim.successes, 2);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    run(data, size);
    return 0;
}
