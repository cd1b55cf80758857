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
/* The scenarios: see scenarios.h. */
#include "scenarios.h"

#include "../namespaces.h"
#include "../software_device.h"
#include "embedded/device/lending.h"
#include "fake_gpu.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

/* An extension, which no public header has: embedded.h, which hides those macros of <infiniband/verbs.h> used here. */
int embedded_ext_set_inline_recv(struct ibv_qp *qp, uint32_t *bytes);

/* Memory of which the kernel does not tell whether it may be written: that is tried. */
static bool register_shared(struct side *side, struct trouble *trouble) {
    void *memory = mmap(NULL, FAULT_MESSAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    errno = 0;
    struct ibv_mr *mr = ibv_reg_mr(side->pd, memory, FAULT_MESSAGE, IBV_ACCESS_LOCAL_WRITE);
    if (mr == NULL) {
        note(trouble, "ibv_reg_mr", errno);
    } else {
        CHECK_EQ(ibv_dereg_mr(mr), 0);
    }
    munmap(memory, FAULT_MESSAGE);
    errno = 0;
    struct ibv_mw *mw = ibv_alloc_mw(side->pd, IBV_MW_TYPE_2);
    if (mw == NULL) {
        note(trouble, "ibv_alloc_mw", errno);
    } else {
        CHECK_EQ(ibv_dealloc_mw(mw), 0);
    }
    return mr != NULL && mw != NULL;
}

/* A connection by the connection manager, with every kind of operation. */
static bool converse(struct side *side, uint16_t port, struct trouble *trouble) {
    struct place place;
    if (!side_connect(side, port, &place, trouble) || !side_echo(side, 64, trouble)
            || !side_echo(side, FAULT_MESSAGE, trouble)) {
        return false;
    }
    struct ibv_qp *qp = side->id->qp;
    memset(side->buffer, 1, 4096);
    for (int i = 0; i < 3; i++) { /* with those that follow more than the first places of the queue hold */
        STEP_ZERO(trouble, side_send(side, qp, IBV_WR_RDMA_WRITE, 0, 4096, &place));
    }
    STEP_ZERO(trouble, side_send(side, qp, IBV_WR_RDMA_READ, FAULT_MESSAGE, 4096, &place));
    STEP_ZERO(trouble, side_send(side, qp, IBV_WR_ATOMIC_FETCH_AND_ADD, FAULT_MESSAGE, 8, &place));
    if (!side_complete(side, qp, 5, NULL, trouble)) {
        return false;
    }
    CHECK(memcmp(side->buffer, side->buffer + FAULT_MESSAGE, 4096) == 0);
    if (!register_shared(side, trouble)) {
        return false;
    }
    STEP(trouble, rdma_disconnect(side->id) == 0);
    return side_await(side, RDMA_CM_EVENT_DISCONNECTED, trouble);
}

static bool run_connection(const struct service_ports *ports, struct trouble *trouble) {
    struct side side = { 0 };
    bool done = converse(&side, ports->tcp, trouble);
    side_close(&side);
    return done;
}

/* Requests that are turned down: by the service, and for want of one. */
static bool be_refused(struct side *side, uint16_t port, const char *data, enum rdma_cm_event_type type,
                       struct trouble *trouble) {
    struct rdma_conn_param param = { .private_data = data, .private_data_len = sizeof("refuse"), .qp_num = 5 };
    if (!side_resolve(side, RDMA_PS_TCP, "127.0.0.1", port, trouble)) {
        return false;
    }
    STEP(trouble, rdma_connect(side->id, &param) == 0);
    return side_await(side, type, trouble);
}

static bool run_refusal(const struct service_ports *ports, struct trouble *trouble) {
    struct side side = { 0 };
    bool done = be_refused(&side, ports->tcp, "refuse", RDMA_CM_EVENT_REJECTED, trouble);
    side_close(&side);
    if (done) {
        done = be_refused(&side, 1, "refuse", RDMA_CM_EVENT_REJECTED, trouble);
        side_close(&side);
    }
    return done;
}

static bool exchange_datagrams(struct side *side, uint16_t port, struct trouble *trouble) {
    if (!side_resolve(side, RDMA_PS_UDP, "127.0.0.1", port, trouble) || !side_open(side, side->id->verbs, trouble)
            || !side_create_qp(side, trouble)) {
        return false;
    }
    struct rdma_conn_param param = { .qp_num = side->id->qp->qp_num };
    STEP(trouble, rdma_connect(side->id, &param) == 0);
    struct rdma_cm_event *event = side_await_event(side, RDMA_CM_EVENT_ESTABLISHED, trouble);
    if (event == NULL) {
        return false;
    }
    struct rdma_ud_param to = event->param.ud;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    struct ibv_ah *ah;
    STEP(trouble, (ah = ibv_create_ah(side->pd, &to.ah_attr)) != NULL);
    STEP_ZERO(trouble, side_receive(side, side->id->qp, FAULT_MESSAGE, FAULT_MESSAGE));
    struct ibv_sge sge = { (uintptr_t) side->buffer, 1024, side->mr->lkey };
    struct ibv_send_wr wr = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
        .wr.ud = { .ah = ah, .remote_qpn = to.qp_num, .remote_qkey = to.qkey },
    }, *bad;
    memset(side->buffer, 7, 1024);
    /* A datagram may be lost; then it is sent again. */
    struct ibv_wc wc = { 0 };
    int sent = 0;
    bool received = false;
    uint64_t end = milliseconds() + (uint64_t) patience_ms(), again = 0;
    bool failed = false;
    while (!failed && !(received && sent == 0)) {
        CHECK(milliseconds() < end);
        if (!received && sent == 0 && milliseconds() >= again) {
            failed = ibv_post_send(side->id->qp, &wr, &bad) != 0;
            sent++;
            again = milliseconds() + 300;
        }
        if (ibv_poll_cq(side->cq, 1, &wc) == 1) {
            failed |= wc.status != IBV_WC_SUCCESS;
            received |= wc.opcode == IBV_WC_RECV;
            sent -= wc.opcode == IBV_WC_SEND;
        } else {
            sched_yield();
        }
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    if (failed) {
        note(trouble, "datagram", wc.status);
        return false;
    }
    CHECK(memcmp(side->buffer, side->buffer + FAULT_MESSAGE + FAULT_GRH, 1024) == 0);
    return true;
}

static bool run_datagrams(const struct service_ports *ports, struct trouble *trouble) {
    struct side side = { 0 };
    bool done = exchange_datagrams(&side, ports->udp, trouble);
    side_close(&side);
    return done;
}

/* The service is a member as well. */
static bool meet_group(struct side *side, struct trouble *trouble) {
    struct sockaddr_in own = address_at("127.0.0.1", 0), group = address_at(FAULT_GROUP, 0);
    STEP(trouble, (side->events = rdma_create_event_channel()) != NULL);
    CHECK_EQ(fcntl(side->events->fd, F_SETFL, O_NONBLOCK), 0);
    STEP(trouble, rdma_create_id(side->events, &side->id, NULL, RDMA_PS_UDP) == 0);
    STEP(trouble, rdma_bind_addr(side->id, (struct sockaddr *) &own) == 0);
    if (!side_open(side, side->id->verbs, trouble) || !side_create_qp(side, trouble)) {
        return false;
    }
    STEP(trouble, rdma_join_multicast(side->id, (struct sockaddr *) &group, NULL) == 0);
    struct rdma_cm_event *event = side_await_event(side, RDMA_CM_EVENT_MULTICAST_JOIN, trouble);
    if (event == NULL) {
        return false;
    }
    struct rdma_ud_param to = event->param.ud;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    struct ibv_ah *ah;
    STEP(trouble, (ah = ibv_create_ah(side->pd, &to.ah_attr)) != NULL);
    struct ibv_sge sge = { (uintptr_t) side->buffer, 512, side->mr->lkey };
    struct ibv_send_wr wr = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
        .wr.ud = { .ah = ah, .remote_qpn = to.qp_num, .remote_qkey = to.qkey },
    }, *bad;
    int error = ibv_post_send(side->id->qp, &wr, &bad);
    bool done = error == 0 && side_complete(side, side->id->qp, 1, NULL, trouble);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    STEP_ZERO(trouble, error);
    STEP(trouble, rdma_leave_multicast(side->id, (struct sockaddr *) &group) == 0);
    struct sockaddr_in any = { .sin_family = AF_INET }; /* a new group */
    STEP(trouble, rdma_join_multicast(side->id, (struct sockaddr *) &any, NULL) == 0);
    done &= side_await(side, RDMA_CM_EVENT_MULTICAST_JOIN, trouble);
    STEP(trouble, rdma_leave_multicast(side->id, (struct sockaddr *) &any) == 0);
    return done;
}

static bool run_group(const struct service_ports *ports, struct trouble *trouble) {
    (void) ports;
    struct side side = { 0 };
    bool done = meet_group(&side, trouble);
    if (side.id != NULL) { /* a queue pair that is a member cannot be destroyed */
        struct sockaddr_in group = address_at(FAULT_GROUP, 0), any = { .sin_family = AF_INET };
        rdma_leave_multicast(side.id, (struct sockaddr *) &group);
        rdma_leave_multicast(side.id, (struct sockaddr *) &any);
    }
    side_close(&side);
    return done;
}

/* ---- queue pairs that the program connects itself: to each other ---- */

struct direct {
    struct ibv_device **devices;
    struct ibv_context *context;
    struct side side;
    struct ibv_srq *srq;
    struct ibv_qp *qps[2]; /* the second one receives from the shared queue, the first inline */
    int file;
    struct ibv_mr *file_mr;
    struct ibv_td *td; /* the rest is of the extended context, and carries nothing */
    struct ibv_pd *parent;
    struct ibv_cq_ex *cq;
    struct ibv_qp *posting;
    struct software_device device;
    bool registered; /* the device's client */
    struct software_memory *memory;
    struct ibv_mr *device_mr;
    struct software_memory *source; /* what is lent, as the ones of the processor */
    struct ibv_mr *source_mr;
    struct fake_gpu gpu;
    uint64_t gpu_memory, gpu_source;
    struct ibv_mr *gpu_mr, *gpu_source_mr;
};

static bool connect_directly(struct direct *d, struct trouble *trouble) {
    for (int i = 0; i < 2; i++) {
        struct ibv_qp_attr init = {
            .qp_state = IBV_QPS_INIT, .port_num = 1,
            .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
        };
        STEP_ZERO(trouble, ibv_modify_qp(d->qps[i], &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT
                                                           | IBV_QP_ACCESS_FLAGS));
    }
    uint32_t bytes = 64;
    STEP_ZERO(trouble, embedded_ext_set_inline_recv(d->qps[0], &bytes));
    struct ibv_port_attr port;
    STEP_ZERO(trouble, ibv_query_port(d->context, 1, &port));
    for (int i = 0; i < 2; i++) {
        struct ibv_qp_attr ready = {
            .qp_state = IBV_QPS_RTR, .path_mtu = port.active_mtu, .dest_qp_num = d->qps[1 - i]->qp_num,
            .max_dest_rd_atomic = 4, .min_rnr_timer = 1, .ah_attr = { .dlid = port.lid, .port_num = 1 },
        };
        STEP_ZERO(trouble, ibv_modify_qp(d->qps[i], &ready, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU
                                                            | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
                                                            | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
        struct ibv_qp_attr send = {
            .qp_state = IBV_QPS_RTS, .timeout = 17, .retry_cnt = 3, .rnr_retry = 7, .max_rd_atomic = 4,
        };
        STEP_ZERO(trouble, ibv_modify_qp(d->qps[i], &send, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT
                                                           | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN
                                                           | IBV_QP_MAX_QP_RD_ATOMIC));
    }
    return true;
}

static bool create_directly(struct direct *d, struct trouble *trouble) {
    STEP(trouble, (d->devices = ibv_get_device_list(NULL)) != NULL);
    STEP(trouble, (d->context = ibv_open_device(d->devices[0])) != NULL);
    if (!side_open(&d->side, d->context, trouble)) {
        return false;
    }
    d->file = memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(d->file >= 0);
    CHECK_EQ(ftruncate(d->file, 8192), 0);
    CHECK_EQ(fcntl(d->file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    STEP(trouble, (d->file_mr = ibv_reg_dmabuf_mr(d->side.pd, 0, 8192, 0, d->file, IBV_ACCESS_LOCAL_WRITE)) != NULL);
    struct ibv_srq_init_attr shared = { .attr = { .max_wr = 16, .max_sge = 1 } };
    STEP(trouble, (d->srq = ibv_create_srq(d->side.pd, &shared)) != NULL);
    for (int i = 0; i < 2; i++) {
        struct ibv_qp_init_attr attr = {
            .send_cq = d->side.cq, .recv_cq = d->side.cq, .srq = i == 1 ? d->srq : NULL,
            .cap = {
                .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64,
            },
            .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
        };
        STEP(trouble, (d->qps[i] = ibv_create_qp(d->side.pd, &attr)) != NULL);
    }
    return true;
}

/* A shared queue that runs short says so, unless there is no memory for that. */
static bool create_extended(struct direct *d, struct trouble *trouble) {
    struct ibv_td_init_attr thread = { 0 };
    STEP(trouble, (d->td = ibv_alloc_td(d->context, &thread)) != NULL);
    struct ibv_parent_domain_init_attr domain = { .pd = d->side.pd, .td = d->td };
    STEP(trouble, (d->parent = ibv_alloc_parent_domain(d->context, &domain)) != NULL);
    struct ibv_cq_init_attr_ex cq = {
        .cqe = 8, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
        .parent_domain = d->parent,
    };
    STEP(trouble, (d->cq = ibv_create_cq_ex(d->context, &cq)) != NULL);
    STEP_ZERO(trouble, ibv_resize_cq(ibv_cq_ex_to_cq(d->cq), 16));
    struct ibv_qp_init_attr_ex qp = {
        .send_cq = ibv_cq_ex_to_cq(d->cq), .recv_cq = ibv_cq_ex_to_cq(d->cq), .qp_type = IBV_QPT_RC, .pd = d->parent,
        .cap = { .max_send_wr = 4, .max_send_sge = 1 },
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = IBV_QP_EX_WITH_SEND,
    };
    STEP(trouble, (d->posting = ibv_create_qp_ex(d->context, &qp)) != NULL);
    return true;
}

static void release_extended(struct direct *d) {
    if (d->posting != NULL) {
        CHECK_EQ(ibv_destroy_qp(d->posting), 0);
    }
    if (d->cq != NULL) {
        CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(d->cq)), 0);
    }
    if (d->parent != NULL) {
        CHECK_EQ(ibv_dealloc_pd(d->parent), 0);
    }
    if (d->td != NULL) {
        CHECK_EQ(ibv_dealloc_td(d->td), 0);
    }
}

static bool run_short(struct direct *d, struct trouble *trouble) {
    struct ibv_srq_attr limit = { .srq_limit = 4 };
    STEP_ZERO(trouble, ibv_modify_srq(d->srq, &limit, IBV_SRQ_LIMIT));
    STEP_ZERO(trouble, side_send(&d->side, d->qps[0], IBV_WR_SEND, 0, 64, NULL));
    return side_complete(&d->side, d->qps[0], 2, NULL, trouble);
}

#define LOANS 20 /* number of WRITEs, of which the later ones may go from device to device */

/* WRITEs from memory of a device to that of another one, and to memory of the host. */
static bool write_lent(struct direct *d, const struct ibv_mr *source, const struct place *to, struct trouble *trouble) {
    const struct place host = { (uintptr_t) d->side.buffer, d->side.mr->rkey };
    for (int i = 0; i < LOANS; i++) {
        struct ibv_sge sge = { (uintptr_t) source->addr, 4096, source->lkey };
        const struct place *place = i < LOANS - 1 ? to : &host;
        struct ibv_send_wr wr = {
            .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .wr.rdma = { place->address, place->key },
        }, *bad;
        STEP_ZERO(trouble, ibv_post_send(d->qps[0], &wr, &bad));
        if (!side_complete(&d->side, d->qps[0], 1, NULL, trouble)) {
            return false;
        }
        sched_yield();
    }
    return true;
}

/* Memory of another device: written, and read into host memory. */
static bool use_device(struct direct *d, struct trouble *trouble) {
    software_start(&d->device);
    STEP_ZERO(trouble, rdma_peer_memory_register_client(&d->device.client));
    d->registered = true;
    d->memory = software_allocate(&d->device, 4096);
    CHECK(d->memory != NULL);
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    STEP(trouble, (d->device_mr = ibv_reg_mr(d->side.pd, d->memory->address, 4096, access)) != NULL);
    struct place place = { (uintptr_t) d->memory->address, d->device_mr->rkey };
    memset(d->side.buffer, 5, 4096);
    STEP_ZERO(trouble, side_send(&d->side, d->qps[0], IBV_WR_RDMA_WRITE, 0, 4096, &place));
    STEP_ZERO(trouble, side_send(&d->side, d->qps[0], IBV_WR_RDMA_READ, FAULT_MESSAGE, 4096, &place));
    if (!side_complete(&d->side, d->qps[0], 2, NULL, trouble)) {
        return false;
    }
    CHECK(memcmp(d->memory->bytes, d->side.buffer + FAULT_MESSAGE, 4096) == 0);
    d->source = software_allocate(&d->device, 4096);
    CHECK(d->source != NULL);
    memset(d->source->bytes, 8, 4096);
    STEP(trouble, (d->source_mr = ibv_reg_mr(d->side.pd, d->source->address, 4096, access)) != NULL);
    if (!write_lent(d, d->source_mr, &place, trouble)) {
        return false;
    }
    CHECK(memcmp(d->memory->bytes, d->source->bytes, 4096) == 0);
    CHECK(memcmp(d->side.buffer, d->source->bytes, 4096) == 0);
    return true;
}

/* The same with a graphics processor's memory. */
static bool use_gpu(struct direct *d, struct trouble *trouble) {
    void *library = fake_gpu_load("libcuda.so.1", &d->gpu);
    CHECK(library != NULL);
    int (*init)(unsigned);
    CHECK((*(void **) &init = dlsym(library, "cuInit")) != NULL);
    CHECK_EQ(init(0), 0);
    d->gpu_memory = d->gpu.map(4096, 1);
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    void *address = (void *) (uintptr_t) d->gpu_memory;
    STEP(trouble, (d->gpu_mr = ibv_reg_mr(d->side.pd, address, 4096, access)) != NULL);
    struct place place = { d->gpu_memory, d->gpu_mr->rkey };
    memset(d->side.buffer, 6, 4096);
    STEP_ZERO(trouble, side_send(&d->side, d->qps[0], IBV_WR_RDMA_WRITE, 0, 4096, &place));
    STEP_ZERO(trouble, side_send(&d->side, d->qps[0], IBV_WR_RDMA_READ, FAULT_MESSAGE, 4096, &place));
    if (!side_complete(&d->side, d->qps[0], 2, NULL, trouble)) {
        return false;
    }
    CHECK(memcmp(d->gpu.bytes(d->gpu_memory), d->side.buffer + FAULT_MESSAGE, 4096) == 0);
    int (*retain)(void **, int), (*set_current)(void *), (*allocate)(uint64_t *, size_t);
    void *context;
    CHECK((*(void **) &retain = dlsym(library, "cuDevicePrimaryCtxRetain")) != NULL);
    CHECK((*(void **) &set_current = dlsym(library, "cuCtxSetCurrent")) != NULL);
    CHECK((*(void **) &allocate = dlsym(library, "cuMemAlloc_v2")) != NULL);
    CHECK_EQ(retain(&context, 0), 0);
    CHECK_EQ(set_current(context), 0);
    CHECK_EQ(allocate(&d->gpu_source, 4096), 0);
    address = (void *) (uintptr_t) d->gpu_source;
    STEP(trouble, (d->gpu_source_mr = ibv_reg_mr(d->side.pd, address, 4096, access)) != NULL);
    return write_lent(d, d->gpu_source_mr, &place, trouble); /* no driver opens memory of its own process */
}

static void leave_gpu(struct direct *d) {
    if (d->gpu_mr != NULL) {
        CHECK_EQ(ibv_dereg_mr(d->gpu_mr), 0);
    }
    if (d->gpu_source_mr != NULL) {
        CHECK_EQ(ibv_dereg_mr(d->gpu_source_mr), 0);
    }
    if (d->gpu_source != 0) {
        d->gpu.unmap(d->gpu_source);
    }
    if (d->gpu_memory != 0) {
        d->gpu.unmap(d->gpu_memory);
        CHECK_EQ(d->gpu.counts().streams, 0);
        CHECK_EVENTUALLY(d->gpu.counts().entered == 0); /* a thread pins memory */
    }
}

static void leave_device(struct direct *d) {
    if (d->device_mr != NULL) {
        CHECK_EQ(ibv_dereg_mr(d->device_mr), 0);
    }
    if (d->memory != NULL) {
        software_free(d->memory);
    }
    if (d->source_mr != NULL) {
        CHECK_EQ(ibv_dereg_mr(d->source_mr), 0);
    }
    if (d->source != NULL) {
        software_free(d->source);
    }
    CHECK_EVENTUALLY(atomic_load(&d->device.imported) == 0);
    if (d->registered) {
        CHECK_EQ(rdma_peer_memory_unregister_client(&d->device.client), 0);
    }
    CHECK_EQ(atomic_load(&d->device.acquired), 0);
}

static bool talk_directly(struct direct *d, struct trouble *trouble) {
    if (!create_directly(d, trouble) || !connect_directly(d, trouble)) {
        return false;
    }
    struct ibv_sge sge = { (uintptr_t) d->side.buffer + FAULT_MESSAGE, 4096, d->side.mr->lkey };
    struct ibv_recv_wr receive = { .sg_list = &sge, .num_sge = 1 }, *bad;
    memset(d->side.buffer, 3, 4096);
    STEP_ZERO(trouble, ibv_post_srq_recv(d->srq, &receive, &bad));
    STEP_ZERO(trouble, ibv_post_srq_recv(d->srq, &receive, &bad));
    STEP_ZERO(trouble, side_send(&d->side, d->qps[0], IBV_WR_SEND, 0, 4096, NULL));
    if (!side_complete(&d->side, d->qps[0], 2, NULL, trouble)) {
        return false;
    }
    CHECK(memcmp(d->side.buffer, d->side.buffer + FAULT_MESSAGE, 4096) == 0);
    STEP_ZERO(trouble, side_receive(&d->side, d->qps[0], FAULT_MESSAGE, 64));
    STEP_ZERO(trouble, side_send(&d->side, d->qps[1], IBV_WR_SEND, 0, 64, NULL));
    return side_complete(&d->side, d->qps[1], 2, NULL, trouble) && run_short(d, trouble) && use_device(d, trouble)
            && use_gpu(d, trouble) && create_extended(d, trouble);
}

static bool run_direct(const struct service_ports *ports, struct trouble *trouble) {
    (void) ports;
    struct direct d = { .file = -1 };
    atomic_store(&lending_is_on, true);
    atomic_store(&lending_to_itself, true);
    atomic_store(&lending_again_ns, 1); /* a loan that failed is tried again while the scenario lasts */
    bool done = talk_directly(&d, trouble);
    release_extended(&d);
    for (int i = 0; i < 2; i++) {
        if (d.qps[i] != NULL) {
            CHECK_EQ(ibv_destroy_qp(d.qps[i]), 0);
        }
    }
    if (d.srq != NULL) {
        CHECK_EQ(ibv_destroy_srq(d.srq), 0);
    }
    leave_gpu(&d);
    leave_device(&d);
    if (d.file_mr != NULL) {
        CHECK_EQ(ibv_dereg_mr(d.file_mr), 0);
    }
    if (d.file >= 0) {
        close(d.file);
    }
    side_close(&d.side);
    if (d.context != NULL) {
        CHECK_EQ(ibv_close_device(d.context), 0);
    }
    if (d.devices != NULL) {
        ibv_free_device_list(d.devices);
    }
    return done;
}

/* ---- rdma_create_ep(3), whose calls wait: two threads ---- */

#define ENDPOINT_ATTR                                                                                                 \
    { .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 }, .sq_sig_all = 1 }

struct endpoint {
    uint16_t port;
    bool done;
    _Atomic bool over;
    struct trouble trouble;
};

static bool make_endpoint(struct rdma_cm_id **id, uint16_t port, int flags, struct trouble *trouble) {
    struct sockaddr_in address = address_at("127.0.0.1", port);
    struct rdma_addrinfo info = {
        .ai_flags = flags, .ai_family = AF_INET, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP,
    };
    struct ibv_qp_init_attr attr = ENDPOINT_ATTR;
    if ((flags & RAI_PASSIVE) != 0) {
        info.ai_src_addr = (struct sockaddr *) &address;
        info.ai_src_len = sizeof(address);
    } else {
        info.ai_dst_addr = (struct sockaddr *) &address;
        info.ai_dst_len = sizeof(address);
    }
    STEP(trouble, rdma_create_ep(id, &info, NULL, &attr) == 0);
    return true;
}

static bool connect_endpoint(struct rdma_cm_id **id, uint16_t port, struct trouble *trouble) {
    if (!make_endpoint(id, port, 0, trouble)) {
        return false;
    }
    struct rdma_conn_param param = { .retry_count = 3, .rnr_retry_count = 7 };
    STEP(trouble, rdma_connect(*id, &param) == 0);
    return true;
}

static void *run_active(void *argument) {
    struct endpoint *endpoint = argument;
    struct rdma_cm_id *id = NULL;
    endpoint->done = connect_endpoint(&id, endpoint->port, &endpoint->trouble);
    if (id != NULL) {
        rdma_destroy_ep(id);
    }
    endpoint->over = true;
    return NULL;
}

/* A request that is dropped for want of memory is waited for no longer than its sender does. */
static bool serve_endpoint(struct rdma_cm_id *listener, const struct endpoint *active, struct rdma_cm_id **id,
                           struct trouble *trouble) {
    struct rdma_conn_param param = { .retry_count = 3, .rnr_retry_count = 7 };
    CHECK_EQ(fcntl(listener->channel->fd, F_SETFL, O_NONBLOCK), 0);
    uint64_t end = milliseconds() + (uint64_t) patience_ms();
    while (rdma_get_request(listener, id) != 0) {
        if (errno != EAGAIN || active->over) {
            note(trouble, "rdma_get_request(listener, id)", errno);
            return false;
        }
        CHECK(milliseconds() < end);
        struct pollfd wait = { .fd = listener->channel->fd, .events = POLLIN };
        poll(&wait, 1, 1);
    }
    STEP(trouble, rdma_accept(*id, &param) == 0);
    return true;
}

static bool meet_endpoint(struct rdma_cm_id *listener, struct trouble *trouble) {
    STEP(trouble, rdma_listen(listener, 4) == 0);
    struct endpoint active = { .port = ntohs(rdma_get_src_port(listener)) };
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, run_active, &active), 0);
    struct rdma_cm_id *passive = NULL;
    bool done = serve_endpoint(listener, &active, &passive, trouble);
    if (passive != NULL) {
        rdma_destroy_ep(passive);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    if (!active.done) {
        note(trouble, active.trouble.call, active.trouble.error);
    }
    return done && active.done;
}

static bool run_endpoints(const struct service_ports *ports, struct trouble *trouble) {
    (void) ports;
    struct rdma_cm_id *listener = NULL;
    struct ibv_context **devices;
    STEP(trouble, (devices = rdma_get_devices(NULL)) != NULL);
    rdma_free_devices(devices);
    if (!make_endpoint(&listener, 0, RAI_PASSIVE, trouble)) {
        return false;
    }
    bool done = meet_endpoint(listener, trouble);
    rdma_destroy_ep(listener);
    return done;
}

/* ---- XRC ---- */

struct xrc {
    struct side side;
    int file;
    struct ibv_xrcd *xrcd;
    struct ibv_srq *srq;
    struct ibv_qp *initiator, *target, *opened;
};

static bool make_xrc(struct xrc *x, struct ibv_context *context, struct trouble *trouble) {
    struct side *side = &x->side;
    struct ibv_xrcd_init_attr domain = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = x->file, .oflags = O_CREAT,
    };
    if (!side_open(side, context, trouble)) {
        return false;
    }
    STEP(trouble, (x->xrcd = ibv_open_xrcd(context, &domain)) != NULL);
    struct ibv_srq_init_attr_ex queue = {
        .attr = { .max_wr = 4, .max_sge = 1 }, .srq_type = IBV_SRQT_XRC, .pd = side->pd, .xrcd = x->xrcd,
        .cq = side->cq,
        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
    };
    STEP(trouble, (x->srq = ibv_create_srq_ex(context, &queue)) != NULL);
    struct ibv_qp_init_attr_ex target = {
        .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = x->xrcd,
    };
    STEP(trouble, (x->target = ibv_create_qp_ex(context, &target)) != NULL);
    struct ibv_qp_open_attr open = {
        .comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE, .xrcd = x->xrcd,
        .qp_num = x->target->qp_num, .qp_type = IBV_QPT_XRC_RECV,
    };
    STEP(trouble, (x->opened = ibv_open_qp(context, &open)) != NULL);
    struct ibv_qp_init_attr_ex initiator = {
        .qp_type = IBV_QPT_XRC_SEND, .send_cq = side->cq, .cap = { .max_send_wr = 4, .max_send_sge = 1 },
        .sq_sig_all = 1, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = side->pd,
    };
    STEP(trouble, (x->initiator = ibv_create_qp_ex(context, &initiator)) != NULL);
    return true;
}

static bool connect_xrc(struct ibv_qp *qp, uint32_t qpn, struct trouble *trouble) {
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
    STEP_ZERO(trouble, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    attr = (struct ibv_qp_attr) {
        .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qpn, .ah_attr = { .dlid = 1, .port_num = 1 },
    };
    STEP_ZERO(trouble, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN
                                     | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    attr = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTS, .timeout = 17, .retry_cnt = 7, .rnr_retry = 7 };
    STEP_ZERO(trouble, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT
                                     | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
    return true;
}

static bool send_by_xrc(struct xrc *x, struct trouble *trouble) {
    struct side *side = &x->side;
    uint32_t number;
    CHECK_EQ(ibv_get_srq_num(x->srq, &number), 0);
    struct ibv_sge sge = { (uintptr_t) side->buffer, 4096, side->mr->lkey };
    struct ibv_recv_wr receive = { .sg_list = &sge, .num_sge = 1 }, *bad_receive;
    struct ibv_send_wr send = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .qp_type.xrc.remote_srqn = number,
    }, *bad_send;
    STEP_ZERO(trouble, ibv_post_srq_recv(x->srq, &receive, &bad_receive));
    STEP_ZERO(trouble, ibv_post_send(x->initiator, &send, &bad_send));
    return side_complete(side, x->initiator, 2, NULL, trouble);
}

static void close_xrc(struct xrc *x) {
    struct ibv_qp *const qps[] = { x->initiator, x->target, x->opened };
    for (int i = 0; i < 3; i++) {
        CHECK(qps[i] == NULL || ibv_destroy_qp(qps[i]) == 0);
    }
    CHECK(x->srq == NULL || ibv_destroy_srq(x->srq) == 0);
    CHECK(x->xrcd == NULL || ibv_close_xrcd(x->xrcd) == 0);
    side_close(&x->side);
    close(x->file);
}

static bool run_xrc(const struct service_ports *ports, struct trouble *trouble) {
    (void) ports;
    struct ibv_context **devices;
    STEP(trouble, (devices = rdma_get_devices(NULL)) != NULL);
    struct xrc x = { .file = open("/dev/null", O_RDONLY | O_CLOEXEC) };
    bool done = make_xrc(&x, devices[0], trouble) && connect_xrc(x.initiator, x.target->qp_num, trouble)
            && connect_xrc(x.opened, x.initiator->qp_num, trouble) && send_by_xrc(&x, trouble);
    close_xrc(&x);
    rdma_free_devices(devices);
    return done;
}

/* A client in another network namespace, which has to ask where the address is. */
static bool run_elsewhere(const struct service_ports *ports, struct trouble *trouble) {
    struct side side = { 0 };
    int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    CHECK(own >= 0);
    CHECK_EQ(unshare(CLONE_NEWNET), 0); /* network namespace of this thread */
    fill_network("10.77.0.2");
    bool done = side_resolve(&side, RDMA_PS_TCP, FAULT_ADDRESS, ports->tcp, trouble);
    struct rdma_conn_param param = { .private_data = "refuse", .private_data_len = sizeof("refuse"), .qp_num = 5 };
    if (done && rdma_connect(side.id, &param) != 0) {
        note(trouble, "rdma_connect()", errno);
        done = false;
    }
    done = done && side_await(&side, RDMA_CM_EVENT_REJECTED, trouble);
    side_close(&side);
    CHECK_EQ(setns(own, CLONE_NEWNET), 0);
    close(own);
    return done;
}

const struct scenario scenarios[] = {
    { "connection", false, false, false, run_connection },
    { "refusal", false, false, false, run_refusal },
    { "datagrams", false, false, false, run_datagrams },
    { "group", true, false, false, run_group },
    { "xrc", false, true, false, run_xrc },
    { "endpoints", false, true, false, run_endpoints },
    { "direct", false, true, false, run_direct },
    { "elsewhere", false, true, true, run_elsewhere },
};
const int num_scenarios = sizeof(scenarios) / sizeof(scenarios[0]);
