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
 * Use in a child of the objects that it inherited by fork(2): each call of the function table fails with EIO or
 * releases the child's copy, none dies, and the parent and its peer notice nothing. A call that is added to the table
 * needs a case here.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "check.h"
#include "embedded/embedded.h"
#include "ud_support.h"

/* verbs_api.h takes their macros away; these are the functions of the table. */
#define NAME(name) embedded_##name

static struct inherited {
    struct end a, b;  /* connected to each other */
    struct end datagrams;
    struct ibv_td *td;
    struct ibv_pd *parent; /* domain of a's, with td */
    struct ibv_cq_ex *ex;  /* completion queue in the parent domain */
    struct ibv_qp *posting; /* posts by ibv_wr_*, never connected */
    struct ibv_srq *srq;
    struct ibv_ah *ah;
    union ibv_gid group;
    struct rdma_event_channel *channel;
    struct rdma_cm_id *id, *listener; /* the id is resolved and has a queue pair */
    struct rdma_cm_event *event;      /* fetched */
    struct ibv_mr *file;
    struct ibv_mw *window; /* bound to it */
    struct ibv_wc wc;
    struct ibv_async_event async;
} o;

static struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { 0x0100007f } };

#define FAILS(call) CHECK_EQ(call, EIO)
#define FAILS_WITH_ERRNO(call) CHECK((errno = 0, (call) == -1) && errno == EIO)
#define MAKES_NOTHING(call) CHECK((errno = 0, (call) == NULL) && errno == EIO)

/* ---- what a context is not needed for, or what only tells constants ---- */

static void try_ibv_get_device_list(void) {
    int count = 0;
    struct ibv_device **list = NAME(ibv_get_device_list)(&count);
    CHECK(list != NULL);
    CHECK_EQ(count, 1);
    NAME(ibv_free_device_list)(list);
}

static void try_ibv_free_device_list(void) { }
static void try_ibv_get_device_name(void) { CHECK(NAME(ibv_get_device_name)(o.a.context->device) != NULL); }

static void try_ibv_open_device(void) {
    struct ibv_context *own = NAME(ibv_open_device)(o.a.context->device);
    CHECK(own != NULL);
    CHECK_EQ(NAME(ibv_close_device)(own), 0);
}

static void try_ibv_query_device(void) {
    struct ibv_device_attr attr;
    CHECK_EQ(NAME(ibv_query_device)(o.a.context, &attr), 0);
}

static void try_ibv_query_port(void) {
    struct ibv_port_attr attr;
    CHECK_EQ(NAME(ibv_query_port)(o.a.context, 1, (struct _compat_ibv_port_attr *) &attr), 0);
}

static void try_ibv_query_gid(void) {
    union ibv_gid gid;
    CHECK_EQ(NAME(ibv_query_gid)(o.a.context, 1, 0, &gid), 0);
}

static void try_ibv_query_pkey(void) {
    __be16 pkey;
    CHECK_EQ(NAME(ibv_query_pkey)(o.a.context, 1, 0, &pkey), 0);
}

static void try__ibv_query_gid_ex(void) {
    struct ibv_gid_entry entry;
    CHECK_EQ(NAME(_ibv_query_gid_ex)(o.a.context, 1, 0, &entry, 0, sizeof(entry)), 0);
}

static void try_ibv_init_ah_from_wc(void) {
    struct ibv_ah_attr attr;
    CHECK_EQ(NAME(ibv_init_ah_from_wc)(o.a.context, 1, &o.wc, NULL, &attr), 0);
}

static void try_ext_max_inline_recv(void) { CHECK(NAME(ext_max_inline_recv)(o.a.context) > 0); }
static void try_ext_rnr_naks(void) { (void) NAME(ext_rnr_naks)(o.a.context); }
static void try_ext_peer(void) { CHECK_EQ(NAME(ext_peer)(o.listener), 0); }

static void try_rdma_get_devices(void) {
    int count;
    struct ibv_context **list = NAME(rdma_get_devices)(&count);
    CHECK(list != NULL);
    CHECK_EQ(count, 1);
    NAME(rdma_free_devices)(list);
}

static void try_rdma_free_devices(void) { }

static void try_rdma_create_event_channel(void) {
    struct rdma_event_channel *own = NAME(rdma_create_event_channel)();
    CHECK(own != NULL);
    NAME(rdma_destroy_event_channel)(own);
}

static void try_rdma_get_src_port(void) { CHECK(NAME(rdma_get_src_port)(o.listener) != 0); }
static void try_rdma_get_dst_port(void) { CHECK_EQ(NAME(rdma_get_dst_port)(o.listener), 0); }

/* ---- what fails ---- */

static void try_ibv_alloc_pd(void) { MAKES_NOTHING(NAME(ibv_alloc_pd)(o.a.context)); }
static void try_ibv_reg_mr(void) { MAKES_NOTHING(NAME(ibv_reg_mr)(o.a.pd, o.a.buffer, 4096, 0)); }
static void try_ibv_reg_dmabuf_mr(void) { MAKES_NOTHING(NAME(ibv_reg_dmabuf_mr)(o.a.pd, 0, 4096, 0, 0, 0)); }
static void try_ibv_create_comp_channel(void) { MAKES_NOTHING(NAME(ibv_create_comp_channel)(o.a.context)); }
static void try_ibv_create_cq(void) { MAKES_NOTHING(NAME(ibv_create_cq)(o.a.context, 8, NULL, NULL, 0)); }

static void try_ext_take_events(void) {
    uint64_t contexts;
    FAILS(NAME(ext_take_events)(o.a.channel, &contexts));
}

static void try_ext_takes_edges(void) { NAME(ext_takes_edges)(o.a.channel); }
static void try_ext_peer_is(void) { CHECK(!NAME(ext_peer_is)(o.a.recv_cq, EXT_PEER_AWAKE)); }

static void try_ibv_get_cq_event(void) {
    struct ibv_cq *cq;
    void *context;
    FAILS_WITH_ERRNO(NAME(ibv_get_cq_event)(o.a.channel, &cq, &context));
}

static void try_ibv_ack_cq_events(void) { NAME(ibv_ack_cq_events)(o.a.send_cq, 1); }

static void try_ibv_create_qp(void) {
    struct ibv_qp_init_attr attr = { .send_cq = o.a.send_cq, .recv_cq = o.a.recv_cq, .qp_type = IBV_QPT_RC };
    MAKES_NOTHING(NAME(ibv_create_qp)(o.a.pd, &attr));
}

static void try_ibv_modify_qp(void) {
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    FAILS(NAME(ibv_modify_qp)(o.a.qp, &attr, IBV_QP_STATE));
}

static void try_ibv_query_qp(void) {
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    FAILS(NAME(ibv_query_qp)(o.a.qp, &attr, IBV_QP_STATE, &init));
}

static void try_ibv_create_srq(void) {
    struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
    MAKES_NOTHING(NAME(ibv_create_srq)(o.a.pd, &attr));
}

static void try_ibv_modify_srq(void) {
    struct ibv_srq_attr attr = { .srq_limit = 1 };
    FAILS(NAME(ibv_modify_srq)(o.srq, &attr, IBV_SRQ_LIMIT));
}

static void try_ibv_query_srq(void) {
    struct ibv_srq_attr attr;
    FAILS(NAME(ibv_query_srq)(o.srq, &attr));
}

static void try_ibv_create_ah(void) {
    struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };
    MAKES_NOTHING(NAME(ibv_create_ah)(o.a.pd, &attr));
}

static void try_ibv_create_ah_from_wc(void) { MAKES_NOTHING(NAME(ibv_create_ah_from_wc)(o.a.pd, &o.wc, NULL, 1)); }
static void try_ibv_attach_mcast(void) { FAILS(NAME(ibv_attach_mcast)(o.datagrams.qp, &o.group, 0xc001)); }
static void try_ibv_detach_mcast(void) { FAILS(NAME(ibv_detach_mcast)(o.datagrams.qp, &o.group, 0xc001)); }

static void try_ibv_get_async_event(void) {
    struct ibv_async_event event;
    FAILS_WITH_ERRNO(NAME(ibv_get_async_event)(o.b.context, &event));
}

static void try_ibv_ack_async_event(void) { NAME(ibv_ack_async_event)(&o.async); }

static void try_ext_set_inline_recv(void) {
    uint32_t bytes = 8;
    FAILS(NAME(ext_set_inline_recv)(o.a.qp, &bytes));
}

static void try_rdma_create_id(void) {
    struct rdma_cm_id *id;
    FAILS_WITH_ERRNO(NAME(rdma_create_id)(o.channel, &id, NULL, RDMA_PS_TCP));
}

static void try_rdma_bind_addr(void) {
    FAILS_WITH_ERRNO(NAME(rdma_bind_addr)(o.id, (struct sockaddr *) &address));
}

static void try_rdma_listen(void) { FAILS_WITH_ERRNO(NAME(rdma_listen)(o.id, 1)); }

static void try_rdma_resolve_addr(void) {
    FAILS_WITH_ERRNO(NAME(rdma_resolve_addr)(o.id, NULL, (struct sockaddr *) &address, 1));
}

static void try_rdma_resolve_route(void) { FAILS_WITH_ERRNO(NAME(rdma_resolve_route)(o.id, 1)); }

static void try_rdma_create_qp(void) {
    struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1 }, .qp_type = IBV_QPT_RC };
    FAILS_WITH_ERRNO(NAME(rdma_create_qp)(o.listener, NULL, &attr));
}

static void try_rdma_connect(void) { FAILS_WITH_ERRNO(NAME(rdma_connect)(o.id, NULL)); }
static void try_rdma_accept(void) { FAILS_WITH_ERRNO(NAME(rdma_accept)(o.id, NULL)); }
static void try_rdma_reject(void) { FAILS_WITH_ERRNO(NAME(rdma_reject)(o.id, NULL, 0)); }
static void try_rdma_disconnect(void) { FAILS_WITH_ERRNO(NAME(rdma_disconnect)(o.id)); }
static void try_rdma_migrate_id(void) { FAILS_WITH_ERRNO(NAME(rdma_migrate_id)(o.id, o.channel)); }

static void try_rdma_set_option(void) {
    uint8_t value = 1;
    FAILS_WITH_ERRNO(NAME(rdma_set_option)(o.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &value, sizeof(value)));
}

static void try_rdma_get_cm_event(void) {
    struct rdma_cm_event *event;
    FAILS_WITH_ERRNO(NAME(rdma_get_cm_event)(o.channel, &event));
}

static void try_rdma_join_multicast(void) {
    FAILS_WITH_ERRNO(NAME(rdma_join_multicast)(o.id, (struct sockaddr *) &address, NULL));
}

static void try_rdma_join_multicast_ex(void) {
    struct rdma_cm_join_mc_attr_ex attr = {
        .comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
        .addr = (struct sockaddr *) &address,
    };
    FAILS_WITH_ERRNO(NAME(rdma_join_multicast_ex)(o.id, &attr, NULL));
}

static void try_rdma_leave_multicast(void) {
    FAILS_WITH_ERRNO(NAME(rdma_leave_multicast)(o.id, (struct sockaddr *) &address));
}

/* Tries the calls of the extended context, which are not in the table. */
static void try_extended(void) {
    struct ibv_device_attr_ex attr;
    CHECK_EQ(ibv_query_device_ex(o.a.context, NULL, &attr), 0);
    struct ibv_td_init_attr thread = { 0 };
    MAKES_NOTHING(ibv_alloc_td(o.a.context, &thread));
    struct ibv_parent_domain_init_attr domain = { .pd = o.a.pd, .td = o.td };
    MAKES_NOTHING(ibv_alloc_parent_domain(o.a.context, &domain));
    struct ibv_cq_init_attr_ex queue = { .cqe = 8 };
    MAKES_NOTHING(ibv_create_cq_ex(o.a.context, &queue));
    struct ibv_poll_cq_attr poll = { 0 };
    FAILS(ibv_start_poll(o.ex, &poll));
    FAILS(ibv_next_poll(o.ex));
    struct ibv_qp_init_attr_ex pair = {
        .send_cq = o.a.send_cq, .recv_cq = o.a.recv_cq, .qp_type = IBV_QPT_RC, .pd = o.a.pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
    };
    MAKES_NOTHING(ibv_create_qp_ex(o.a.context, &pair));
    struct ibv_qp_ex *posting = ibv_qp_to_qp_ex(o.posting);
    ibv_wr_start(posting); /* the parent holds the lock */
    ibv_wr_send(posting);
    ibv_wr_set_inline_data(posting, "x", 1);
    FAILS(ibv_wr_complete(posting));
    ibv_wr_start(posting);
    ibv_wr_abort(posting);
    ibv_end_poll(o.ex);
    FAILS(ibv_resize_cq(o.a.send_cq, 8));
    errno = 0;
    CHECK_EQ(ibv_rereg_mr(o.a.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_CMD);
    CHECK_EQ(errno, EIO);
}

/* ---- what releases the child's copy: in an order, at the end ---- */

static void try_rdma_ack_cm_event(void) { }
static void try_rdma_destroy_qp(void) { }
static void try_rdma_destroy_id(void) { }
static void try_rdma_destroy_event_channel(void) { }
static void try_ibv_destroy_qp(void) { }
static void try_ibv_destroy_ah(void) { }
static void try_ibv_destroy_srq(void) { }
static void try_ibv_dereg_mr(void) { }
static void try_ibv_destroy_cq(void) { }
static void try_ibv_destroy_comp_channel(void) { }
static void try_ibv_dealloc_pd(void) { }
static void try_ibv_close_device(void) { }

static void release_all(void) {
    CHECK_EQ(rdma_ack_cm_event(o.event), 0);
    rdma_destroy_qp(o.id);
    CHECK(o.id->qp == NULL);
    CHECK_EQ(rdma_destroy_id(o.id), 0);
    CHECK_EQ(rdma_destroy_id(o.listener), 0);
    rdma_destroy_event_channel(o.channel);
    CHECK_EQ(ibv_destroy_ah(o.ah), 0);
    CHECK_EQ(ibv_dealloc_td(o.td), EBUSY); /* the users are known here, too */
    CHECK_EQ(ibv_destroy_qp(o.posting), 0);
    CHECK_EQ(ibv_dealloc_pd(o.parent), EBUSY);
    CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(o.ex)), 0);
    CHECK_EQ(ibv_dealloc_pd(o.parent), 0);
    CHECK_EQ(ibv_dealloc_td(o.td), 0);
    CHECK_EQ(ibv_dealloc_pd(o.a.pd), EBUSY);
    CHECK_EQ(ibv_destroy_srq(o.srq), 0);
    CHECK_EQ(ibv_dealloc_mw(o.window), 0);
    CHECK_EQ(ibv_dereg_mr(o.file), 0);
    end_close(&o.datagrams); /* though it is a member of the group */
    end_close(&o.a);
    end_close(&o.b);
}

static void post_and_poll(void) {
    struct ibv_recv_wr wr = { .wr_id = 1 }, *bad = NULL;
    struct ibv_send_wr send = { .wr_id = 1, .opcode = IBV_WR_SEND }, *bad_send = NULL;
    struct ibv_mw_bind bind = { .wr_id = 1 };
    FAILS(ibv_post_send(o.a.qp, &send, &bad_send));
    CHECK(bad_send == &send);
    FAILS(ibv_post_recv(o.a.qp, &wr, &bad));
    CHECK(bad == &wr);
    bad = NULL;
    FAILS(ibv_post_srq_recv(o.srq, &wr, &bad));
    CHECK(bad == &wr);
    FAILS_WITH_ERRNO(ibv_poll_cq(o.a.send_cq, 1, &o.wc));
    FAILS(ibv_req_notify_cq(o.a.send_cq, 0));
    MAKES_NOTHING(ibv_alloc_mw(o.a.pd, IBV_MW_TYPE_1));
    FAILS(ibv_bind_mw(o.a.qp, o.window, &bind));
}

/* ---- both processes ---- */

static struct rdma_cm_event *fetch(struct rdma_event_channel *channel, enum rdma_cm_event_type type) {
    struct rdma_cm_event *event;
    CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
    CHECK_EQ(event->event, type);
    return event;
}

static void make_ids(void) {
    o.channel = rdma_create_event_channel();
    CHECK(o.channel != NULL);
    CHECK_EQ(rdma_create_id(o.channel, &o.listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(o.listener, (struct sockaddr *) &address), 0);
    CHECK_EQ(rdma_listen(o.listener, 4), 0);
    struct sockaddr_in destination = address;
    destination.sin_port = rdma_get_src_port(o.listener);
    CHECK_EQ(rdma_create_id(o.channel, &o.id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_resolve_addr(o.id, NULL, (struct sockaddr *) &destination, 1000), 0);
    o.event = fetch(o.channel, RDMA_CM_EVENT_ADDR_RESOLVED);
    struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1, .max_recv_wr = 1 }, .qp_type = IBV_QPT_RC };
    CHECK_EQ(rdma_create_qp(o.id, NULL, &attr), 0);
    CHECK_EQ(rdma_resolve_route(o.id, 1000), 0); /* the event stays in the queue */
}

static void make_all(void) {
    struct options options = defaults;
    options.channel = true;
    pair_open(&o.a, &o.b, &options);
    o.async.event_type = IBV_EVENT_COMM_EST;
    o.async.element.qp = o.a.qp;
    ud_open(&o.datagrams);
    o.group.raw[0] = 0xff;
    o.group.raw[15] = 7;
    CHECK_EQ(ibv_attach_mcast(o.datagrams.qp, &o.group, 0xc001), 0);
    o.ah = own_ah(&o.datagrams);
    o.td = ibv_alloc_td(o.a.context, &(struct ibv_td_init_attr) { 0 });
    CHECK(o.td != NULL);
    struct ibv_parent_domain_init_attr domain = { .pd = o.a.pd, .td = o.td };
    o.parent = ibv_alloc_parent_domain(o.a.context, &domain);
    CHECK(o.parent != NULL);
    struct ibv_cq_init_attr_ex queue = {
        .cqe = 8, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = o.parent,
        .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
    };
    o.ex = ibv_create_cq_ex(o.a.context, &queue);
    CHECK(o.ex != NULL);
    struct ibv_qp_init_attr_ex pair = {
        .send_cq = o.a.send_cq, .recv_cq = o.a.recv_cq, .qp_type = IBV_QPT_RC, .pd = o.a.pd,
        .cap = { .max_send_wr = 4, .max_send_sge = 1, .max_inline_data = 8 },
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = IBV_QP_EX_WITH_SEND,
    };
    o.posting = ibv_create_qp_ex(o.a.context, &pair);
    CHECK(o.posting != NULL);
    ibv_wr_start(ibv_qp_to_qp_ex(o.posting)); /* holds the lock to the end of the parent's test */
    struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
    o.srq = ibv_create_srq(o.a.pd, &srq);
    CHECK(o.srq != NULL);
    int file = memfd_create("inherited", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(file >= 0);
    CHECK_EQ(ftruncate(file, 4096), 0);
    CHECK_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    o.file = ibv_reg_dmabuf_mr(o.a.pd, 0, 4096, 0, file, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    CHECK(o.file != NULL);
    o.window = ibv_alloc_mw(o.a.pd, IBV_MW_TYPE_1);
    CHECK(o.window != NULL);
    struct ibv_mw_bind bind = { .wr_id = 4, .bind_info = { o.file, 0, 4096, IBV_ACCESS_REMOTE_WRITE } };
    CHECK_EQ(ibv_bind_mw(o.a.qp, o.window, &bind), 0);
    expect_wc(o.a.send_cq, 4, IBV_WC_SUCCESS);
    close(file);
    o.wc.slid = 1;
    make_ids();
}

/* Checks that nobody took away an event, and that all objects work. */
static void use_and_release_all(void) {
    struct ibv_cq *cq;
    void *context;
    CHECK_EQ(ibv_get_cq_event(o.a.channel, &cq, &context), 0);
    CHECK(cq == o.a.send_cq);
    ibv_ack_cq_events(cq, 1);
    expect_wc(cq, 5, IBV_WC_SUCCESS);
    expect_wc(o.b.recv_cq, 6, IBV_WC_SUCCESS);
    pair_talk(&o.a, &o.b);
    pair_talk(&o.b, &o.a);
    CHECK_EQ(post_recv(&o.datagrams, 1, 0, 256), 0);
    send_datagram(&o.datagrams, 2, 1024, 64, o.ah, o.datagrams.qp->qp_num);
    expect_wc(o.datagrams.recv_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(rdma_ack_cm_event(o.event), 0);
    CHECK_EQ(rdma_ack_cm_event(fetch(o.channel, RDMA_CM_EVENT_ROUTE_RESOLVED)), 0);
    CHECK_EQ(rdma_connect(o.id, NULL), 0);
    struct rdma_cm_event *request = fetch(o.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = request->id;
    CHECK_EQ(rdma_ack_cm_event(request), 0);
    CHECK_EQ(rdma_reject(passive, NULL, 0), 0);
    CHECK_EQ(rdma_ack_cm_event(fetch(o.channel, RDMA_CM_EVENT_REJECTED)), 0);
    CHECK_EQ(rdma_destroy_id(passive), 0);
    rdma_destroy_qp(o.id);
    CHECK_EQ(rdma_destroy_id(o.id), 0);
    CHECK_EQ(rdma_destroy_id(o.listener), 0);
    rdma_destroy_event_channel(o.channel);
    CHECK_EQ(ibv_destroy_ah(o.ah), 0);
    CHECK_EQ(ibv_detach_mcast(o.datagrams.qp, &o.group, 0xc001), 0);
    CHECK_EQ(ibv_destroy_srq(o.srq), 0);
    CHECK_EQ(ibv_dereg_mr(o.file), EBUSY);
    CHECK_EQ(ibv_dealloc_mw(o.window), 0);
    CHECK_EQ(ibv_dereg_mr(o.file), 0);
    ibv_wr_abort(ibv_qp_to_qp_ex(o.posting));
    CHECK_EQ(ibv_destroy_qp(o.posting), 0);
    CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(o.ex)), 0);
    CHECK_EQ(ibv_dealloc_pd(o.parent), 0);
    CHECK_EQ(ibv_dealloc_td(o.td), 0);
    end_close(&o.datagrams);
    pair_close(&o.a, &o.b);
}

static void live_anew(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    pair_talk(&a, &b);
    pair_talk(&b, &a);
    pair_close(&a, &b);
}

static void no_call_in_the_child_dies_and_the_parent_notices_none(void) {
    static const struct { const char *name; void (*try)(void); } cases[] = {
#define CASE(ret, name, args) { #name, try_##name },
        VERBS_API_IBVERBS(CASE)
        VERBS_API_RDMACM(CASE)
        VERBS_API_OPTIONAL(CASE)
        VERBS_API_EXTENSIONS(CASE)
    };
    make_all();
    /* An event of each kind that nobody has fetched yet. */
    CHECK_EQ(ibv_req_notify_cq(o.a.send_cq, 0), 0);
    CHECK_EQ(post_recv(&o.b, 6, 0, 64), 0);
    CHECK_EQ(post_send(&o.a, 5, IBV_WR_SEND, 0, 0, 64), 0);
    settle();
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        post_and_poll();
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
            fprintf(stderr, "    %s\n", cases[i].name);
            cases[i].try();
        }
        try_extended();
        live_anew(); /* beside what is inherited */
        release_all();
        live_anew();
        _exit(0);
    }
    expect_exit(child, 0);
    use_and_release_all();
}

/* The locks of the parent's other threads are in any state. */
static void a_child_of_a_busy_parent_releases_and_lives_anew(void) {
    make_all();
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(post_rdma(&o.a, 1, IBV_WR_RDMA_WRITE, 0, 0, PAIR_BUFFER / 2, &(struct address) {
            o.b.qp->qp_num, o.b.mr->rkey, (uintptr_t) o.b.buffer }, PAIR_BUFFER / 2), 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            limit_life();
            post_and_poll();
            release_all();
            live_anew();
            _exit(0);
        }
        expect_exit(child, 0);
        expect_wc(o.a.send_cq, 1, IBV_WC_SUCCESS);
    }
    CHECK_EQ(ibv_req_notify_cq(o.a.send_cq, 0), 0);
    CHECK_EQ(post_recv(&o.b, 6, 0, 64), 0);
    CHECK_EQ(post_send(&o.a, 5, IBV_WR_SEND, 0, 0, 64), 0);
    settle();
    use_and_release_all();
}

static void a_grandchild_inherits_from_both(void) {
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        struct end a, b;
        pair_open(&a, &b, &defaults);
        pid_t grandchild = fork_child();
        if (grandchild == 0) {
            limit_life();
            CHECK_EQ(post_recv(&a, 1, 0, 8), EIO);
            end_close(&a);
            live_anew();
            _exit(0);
        }
        expect_exit(grandchild, 0);
        pair_talk(&a, &b);
        pair_close(&a, &b);
        _exit(0);
    }
    expect_exit(child, 0);
}

int main(void) {
    RUN(no_call_in_the_child_dies_and_the_parent_notices_none);
    RUN(a_child_of_a_busy_parent_releases_and_lives_anew);
    RUN(a_grandchild_inherits_from_both);
    return 0;
}
