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
 * Memory of another device in the embedded provider (docs/peer-memory.md), with devices in software: every operation,
 * what is refused, clients that fail, and memory that goes away.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include "freed_in_the_middle.h"
#include "software_device.h"
#include "check.h"
#include "lists.h"
#include "provider.h"
#include "ud_support.h"
#include "xrc_support.h"

#define SIZE (2u << 20)
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* Extensions, which no public header has: embedded.h. */
int embedded_ext_set_inline_recv(struct ibv_qp *qp, uint32_t *bytes);

static struct software_device device;

static const uint32_t lengths[] = { 1, 8, 64, 65, 5000, (1u << 20) + 7 };
#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

static void start(struct software_device *started) {
    software_start(started);
    CHECK_EQ(rdma_peer_memory_register_client(&started->client), 0);
}

static void stop(struct software_device *started) {
    CHECK_EQ(rdma_peer_memory_unregister_client(&started->client), 0);
    CHECK_EQ(atomic_load(&started->acquired), 0);
    CHECK(started->memories == NULL);
}

/* Memory of a device, registered at an end by its address. */
struct there {
    struct software_memory *memory;
    struct ibv_mr *mr;
};

static struct there there_open(struct software_device *of, const struct end *end, int access) {
    struct there there = { .memory = software_allocate(of, SIZE) };
    there.mr = ibv_reg_mr(end->pd, there.memory->address, SIZE, access);
    CHECK(there.mr != NULL);
    CHECK(there.mr->addr == there.memory->address);
    CHECK_EQ(there.mr->length, SIZE);
    return there;
}

static void there_close(struct there *there) {
    CHECK_EQ(ibv_dereg_mr(there->mr), 0);
    software_free(there->memory);
}

static struct address address_in(const struct there *there) {
    return address_of(there->mr);
}

static struct ibv_sge piece(const struct there *there, size_t offset, uint32_t length) {
    return piece_of(there->mr, offset, length);
}

static struct ibv_sge host_piece(const struct end *end, size_t offset, uint32_t length) {
    return piece_of(end->mr, offset, length);
}

/* ---- operations ---- */

static void write_and_read(struct end *a, const struct there *there, uint32_t length) {
    struct address to = address_in(there);
    fill(a->buffer, length, length);
    there->memory->bytes[999 + length] = 77;
    CHECK_EQ(post_rdma(a, 1, IBV_WR_RDMA_WRITE, 0, 0, length, &to, 999), 0);
    expect_wc(a->send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(there->memory->bytes + 999, a->buffer, length), 0);
    CHECK_EQ(there->memory->bytes[999 + length], 77);
    fill(there->memory->bytes + 5, length, length + 1);
    CHECK_EQ(post_rdma(a, 2, IBV_WR_RDMA_READ, 0, 0, length, &to, 5), 0);
    expect_wc(a->send_cq, 2, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(there->memory->bytes + 5, a->buffer, length), 0);
}

static void a_peer_writes_and_reads_the_memory(void) {
    struct end a, b;
    start(&device);
    pair_open(&a, &b, &defaults);
    struct there there = there_open(&device, &b, ACCESS);
    for (size_t i = 0; i < LENGTHS; i++) {
        write_and_read(&a, &there, lengths[i]);
    }
    CHECK_EQ(atomic_load(&device.acquired), 1);
    there_close(&there);
    pair_close(&a, &b);
    stop(&device);
}

/* Messages between memory of devices, both ways of a list: header of the host and body of the device. */
static void messages_go_from_device_to_device(void) {
    struct options options = defaults;
    options.separate_cqs = true;
    struct end a, b;
    start(&device);
    pair_open(&a, &b, &options);
    struct there from = there_open(&device, &a, 0), to = there_open(&device, &b, IBV_ACCESS_LOCAL_WRITE);
    for (size_t i = 0; i < LENGTHS; i++) {
        uint32_t length = lengths[i];
        struct ibv_sge source[3] = { host_piece(&a, 0, 24), piece(&from, 3, length), host_piece(&a, 24, 16) };
        struct ibv_sge target[3] = { piece(&to, 11, 10), host_piece(&b, 0, 20), piece(&to, 21, length + 10) };
        fill(a.buffer, 40, length);
        fill(from.memory->bytes, length + 3, length + 1);
        char *expected = malloc(length + 40), *received = malloc(length + 40);
        memcpy(expected, a.buffer, 24);
        memcpy(expected + 24, from.memory->bytes + 3, length);
        memcpy(expected + 24 + length, a.buffer + 24, 16);
        CHECK_EQ(post_receive_list(&b, 1, target, 3), 0);
        CHECK_EQ(post_list(&a, 2, IBV_WR_SEND, source, 3, NULL), 0);
        expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
        memcpy(received, to.memory->bytes + 11, 10);
        memcpy(received + 10, b.buffer, 20);
        memcpy(received + 30, to.memory->bytes + 21, length + 10);
        CHECK_EQ(memcmp(received, expected, length + 40), 0);
        free(expected);
        free(received);
    }
    there_close(&from);
    there_close(&to);
    pair_close(&a, &b);
    stop(&device);
}

/* Two clients at once: the memory of one is the source, that of the other the target. */
static void a_write_and_a_read_go_from_device_to_device(void) {
    static struct software_device other;
    struct end a, b;
    start(&device);
    start(&other);
    pair_open(&a, &b, &defaults);
    struct there here = there_open(&device, &a, ACCESS), there = there_open(&other, &b, ACCESS);
    struct address to = address_in(&there);
    for (size_t i = 0; i < LENGTHS; i++) {
        struct ibv_sge sge = piece(&here, 0, lengths[i]);
        fill(here.memory->bytes, SIZE, 5);
        CHECK_EQ(post_list(&a, 1, IBV_WR_RDMA_WRITE, &sge, 1, &to), 0);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(here.memory->bytes, there.memory->bytes, lengths[i]), 0);
        memset(here.memory->bytes, 0, SIZE);
        CHECK_EQ(post_list(&a, 2, IBV_WR_RDMA_READ, &sge, 1, &to), 0);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(here.memory->bytes, there.memory->bytes, lengths[i]), 0);
    }
    CHECK(atomic_load(&device.copies) > 0 && atomic_load(&other.copies) > 0);
    there_close(&here);
    there_close(&there);
    pair_close(&a, &b);
    stop(&device);
    stop(&other);
}

/* Each copy from a device takes the time of its driver, so a long message has fewer of them than one of the host. */
static void a_long_message_of_a_device_has_few_pieces(void) {
    struct end a, b;
    start(&device);
    pair_open(&a, &b, &defaults);
    struct there there = there_open(&device, &b, ACCESS);
    struct address to = address_in(&there), own = end_address(&a);
    struct ibv_sge sge = piece(&there, 0, 1u << 20);
    fill(there.memory->bytes, SIZE, 6);
    for (int i = 0; i < 2; i++) {
        int before = atomic_load(&device.copies);
        if (i == 0) {
            CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_READ, 0, 0, 1u << 20, &to, 0), 0);
            expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        } else {
            memset(a.buffer, 0, 1u << 20);
            CHECK_EQ(post_list(&b, 2, IBV_WR_RDMA_WRITE, &sge, 1, &own), 0);
            expect_wc(b.send_cq, 2, IBV_WC_SUCCESS);
        }
        CHECK_EQ(memcmp(there.memory->bytes, a.buffer, 1u << 20), 0);
        /* 64 KiB; of an own message the first one is of 32 KiB, as whose memory it is is not known yet */
        CHECK_EQ(atomic_load(&device.copies) - before, i == 0 ? 16 : 17);
    }
    there_close(&there);
    pair_close(&a, &b);
    stop(&device);
}

#define IOVA (UINT64_C(0x123456780000) + OFFSET)
#define OFFSET 12288u

static void a_descriptor_gives_the_memory_at_an_address_chosen(void) {
    struct end a, b;
    start(&device);
    pair_open(&a, &b, &defaults);
    struct software_memory *memory = software_allocate(&device, SIZE);
    struct ibv_mr *mr = ibv_reg_dmabuf_mr(b.pd, OFFSET, 65536, IOVA, memory->dmabuf[0], ACCESS);
    CHECK(mr != NULL);
    struct address to = { .buffer = IOVA, .rkey = mr->rkey };
    fill(a.buffer, 65536, 1);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 65536, &to, 0), 0);
    CHECK_EQ(post_recv(&b, 2, 0, 0), 0);
    expect_wc(b.recv_cq, 2, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(memory->bytes + OFFSET, a.buffer, 65536), 0);
    CHECK_EQ(memory->bytes[OFFSET - 1], 0);
    CHECK_EQ(memory->bytes[OFFSET + 65536], 0);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    software_free(memory);
    pair_close(&a, &b);
    stop(&device);
}

static void datagrams_use_the_memory(void) {
    struct end a, b;
    start(&device);
    ud_open(&a);
    ud_open(&b);
    struct ibv_ah *ah = own_ah(&a);
    struct there from = there_open(&device, &a, 0), to = there_open(&device, &b, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_sge target = piece(&to, 0, 2048), source = piece(&from, 100, 1000);
    fill(from.memory->bytes, SIZE, 9);
    CHECK_EQ(post_receive_list(&b, 1, &target, 1), 0);
    struct ibv_send_wr send = {
        .wr_id = 2, .sg_list = &source, .num_sge = 1, .opcode = IBV_WR_SEND,
        .wr.ud = { .ah = ah, .remote_qpn = b.qp->qp_num, .remote_qkey = QKEY },
    }, *bad;
    CHECK_EQ(ibv_post_send(a.qp, &send, &bad), 0);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(to.memory->bytes + GRH, from.memory->bytes + 100, 1000), 0);
    there_close(&from);
    there_close(&to);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&b);
    stop(&device);
}

static void a_message_kept_in_the_completion_is_placed_by_the_poll(void) {
    struct end a, b;
    uint32_t bytes = 64;
    start(&device);
    end_open(&a, &defaults);
    end_open(&b, &defaults);
    CHECK_EQ(embedded_ext_set_inline_recv(b.qp, &bytes), 0);
    end_connect(&a, b.qp->qp_num);
    end_connect(&b, a.qp->qp_num);
    struct there to = there_open(&device, &b, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_sge target = piece(&to, 0, 64);
    fill(a.buffer, 64, 1);
    CHECK_EQ(post_receive_list(&b, 1, &target, 1), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(to.memory->bytes, a.buffer, 64), 0);
    there_close(&to);
    pair_close(&a, &b);
    stop(&device);
}

/* Unreliable connections, whose peer hears of no failure: a message into freed memory is lost, with the connection. */
static void unreliable_connections_use_the_memory(void) {
    struct options options = defaults;
    options.type = IBV_QPT_UC;
    options.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    options.separate_cqs = true;
    struct end a, b;
    start(&device);
    pair_open(&a, &b, &options);
    struct there from = there_open(&device, &a, 0), to = there_open(&device, &b, ACCESS);
    struct address there = address_in(&to);
    for (size_t i = 0; i < LENGTHS; i++) {
        struct ibv_sge source = piece(&from, 1, lengths[i]), target = piece(&to, 2, lengths[i]);
        fill(from.memory->bytes, SIZE, lengths[i]);
        CHECK_EQ(post_receive_list(&b, 1, &target, 1), 0);
        CHECK_EQ(post_list(&a, 2, IBV_WR_SEND, &source, 1, NULL), 0);
        expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(to.memory->bytes + 2, from.memory->bytes + 1, lengths[i]), 0);
        CHECK_EQ(post_recv(&b, 3, 0, 0), 0);
        CHECK_EQ(post_list(&a, 4, IBV_WR_RDMA_WRITE_WITH_IMM, &source, 1, &there), 0);
        expect_wc(b.recv_cq, 3, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, 4, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(to.memory->bytes, from.memory->bytes + 1, lengths[i]), 0);
    }
    struct ibv_sge source = piece(&from, 0, 5000);
    software_free(to.memory);
    CHECK_EQ(post_list(&a, 5, IBV_WR_RDMA_WRITE, &source, 1, &there), 0);
    expect_wc(a.send_cq, 5, IBV_WC_SUCCESS);
    expect_async(b.context, IBV_EVENT_QP_FATAL);
    CHECK_EQ(ibv_dereg_mr(to.mr), 0);
    there_close(&from);
    pair_close(&a, &b);
    stop(&device);
}

/* A shared receive of XRC is in the memory of a device, as are the source and the target of what it goes along with. */
static void shared_receives_of_xrc_use_the_memory(void) {
    struct side a, b;
    start(&device);
    side_open(&a, -1);
    side_open(&b, -1);
    struct shared_queue queue = make_srq(&b, b.cq);
    struct ibv_qp *initiator = make_initiator(&a, 0), *target = make_target(&b);
    connect_both(initiator, target, 7);
    struct software_memory *memory = software_allocate(&device, SIZE);
    struct ibv_mr *mr = ibv_reg_mr(b.pd, memory->address, SIZE, ACCESS);
    CHECK(mr != NULL);
    struct address to = address_of(mr);
    for (size_t i = 0; i < LENGTHS; i++) {
        uint32_t length = lengths[i] < SIDE_BUFFER ? lengths[i] : SIDE_BUFFER;
        struct ibv_sge sge = piece_of(mr, 3, length);
        struct ibv_recv_wr receive = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;
        fill(a.buffer, length, length);
        CHECK_EQ(ibv_post_srq_recv(queue.srq, &receive, &bad), 0);
        send_to(&a, initiator, 2, length, queue.number);
        expect_wc(b.cq, 1, IBV_WC_SUCCESS);
        expect_wc(a.cq, 2, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(memory->bytes + 3, a.buffer, length), 0);
        CHECK_EQ(post_to(&a, initiator, 3, IBV_WR_RDMA_WRITE, length, queue.number, &to), 0);
        expect_wc(a.cq, 3, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(memory->bytes, a.buffer, length), 0);
        memset(a.buffer, 0, length);
        CHECK_EQ(post_to(&a, initiator, 4, IBV_WR_RDMA_READ, length, queue.number, &to), 0);
        expect_wc(a.cq, 4, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(memory->bytes, a.buffer, length), 0);
    }
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    software_free(memory);
    side_close(&a);
    side_close(&b);
    stop(&device);
}

/* ---- what is refused ---- */

static void refuse_at_the_owner(enum ibv_wr_opcode opcode, int access, size_t offset, uint32_t length) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct there there = there_open(&device, &b, access);
    struct address to = address_in(&there);
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        CHECK_EQ(post_atomic(&a, 1, opcode, 0, &to, offset, 1, 1), 0);
    } else {
        CHECK_EQ(post_rdma(&a, 1, opcode, 0, 0, length, &to, offset), 0);
    }
    expect_wc(a.send_cq, 1, IBV_WC_REM_ACCESS_ERR);
    expect_async(b.context, IBV_EVENT_QP_ACCESS_ERR);
    there_close(&there);
    pair_close(&a, &b);
}

static void a_peer_has_only_the_range_and_the_rights_given(void) {
    start(&device);
    refuse_at_the_owner(IBV_WR_RDMA_WRITE, ACCESS, SIZE - 7, 8);
    refuse_at_the_owner(IBV_WR_RDMA_WRITE, ACCESS, SIZE - (1u << 19), 1u << 20);
    refuse_at_the_owner(IBV_WR_RDMA_WRITE, ACCESS, (size_t) -1, 8);
    refuse_at_the_owner(IBV_WR_RDMA_READ, ACCESS, SIZE, 1);
    refuse_at_the_owner(IBV_WR_RDMA_READ, ACCESS, SIZE - (1u << 19), 1u << 20);
    refuse_at_the_owner(IBV_WR_RDMA_READ, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, 0, 8);
    refuse_at_the_owner(IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_READ, 0, 8);
    CHECK_EQ(atomic_load(&device.copies), 0);
    stop(&device);
}

static void atomics_are_refused_as_without_the_right(void) {
    start(&device);
    refuse_at_the_owner(IBV_WR_ATOMIC_FETCH_AND_ADD, ACCESS | IBV_ACCESS_REMOTE_ATOMIC, 8, 8);
    refuse_at_the_owner(IBV_WR_ATOMIC_CMP_AND_SWP, ACCESS | IBV_ACCESS_REMOTE_ATOMIC, 8, 8);
    CHECK_EQ(atomic_load(&device.copies), 0);
    stop(&device);
}

/* The result of an atomic operation on the peer's host memory may be placed there. */
static void the_result_of_an_atomic_is_placed_in_the_memory(void) {
    struct end a, b;
    start(&device);
    pair_open(&a, &b, &defaults);
    struct there here = there_open(&device, &a, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_sge sge = piece(&here, 16, 8);
    *(uint64_t *) b.buffer = 42;
    struct ibv_send_wr wr = {
        .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
        .wr.atomic = { .remote_addr = (uintptr_t) b.buffer, .rkey = b.mr->rkey, .compare_add = 1 },
    }, *bad;
    CHECK_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(*(uint64_t *) (here.memory->bytes + 16), 42);
    there_close(&here);
    pair_close(&a, &b);
    stop(&device);
}

static void local_rights_and_ranges_are_checked(void) {
    struct options options = defaults;
    options.separate_cqs = true;
    start(&device);
    for (int i = 0; i < 3; i++) {
        struct end a, b;
        pair_open(&a, &b, &options);
        struct there at_a = there_open(&device, &a, 0), at_b = there_open(&device, &b, 0);
        struct ibv_sge beyond = piece(&at_a, SIZE - 4, 8), read_into = piece(&at_a, 0, 8);
        struct ibv_sge unwritable = piece(&at_b, 0, 8), plain = host_piece(&a, 0, 8);
        struct address from = end_address(&b);
        if (i == 0) {
            CHECK_EQ(post_list(&a, 1, IBV_WR_SEND, &beyond, 1, NULL), 0);
            expect_wc(a.send_cq, 1, IBV_WC_LOC_PROT_ERR);
        } else if (i == 1) {
            CHECK_EQ(post_receive_list(&b, 1, &unwritable, 1), 0);
            CHECK_EQ(post_list(&a, 2, IBV_WR_SEND, &plain, 1, NULL), 0);
            expect_wc(b.recv_cq, 1, IBV_WC_LOC_PROT_ERR);
            expect_wc(a.send_cq, 2, IBV_WC_REM_OP_ERR);
        } else {
            CHECK_EQ(post_list(&a, 1, IBV_WR_RDMA_READ, &read_into, 1, &from), 0);
            expect_wc(a.send_cq, 1, IBV_WC_LOC_PROT_ERR);
        }
        there_close(&at_a);
        there_close(&at_b);
        pair_close(&a, &b);
    }
    CHECK_EQ(atomic_load(&device.copies), 0);
    stop(&device);
}

static void expect_fd_refused(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int error) {
    errno = 0;
    CHECK(ibv_reg_dmabuf_mr(pd, offset, length, iova, fd, ACCESS) == NULL);
    CHECK_EQ(errno, error);
}

static void registration_checks_its_arguments(void) {
    struct end end;
    int pipe_fds[2];
    start(&device);
    end_open(&end, &defaults);
    CHECK_EQ(pipe(pipe_fds), 0);
    struct software_memory *memory = software_allocate(&device, SIZE);
    char *nobodys = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(nobodys != MAP_FAILED);
    expect_refused(end.pd, nobodys, 4096, ACCESS, EFAULT);
    expect_refused(end.pd, memory->address, SIZE + 1, ACCESS, EINVAL); /* the owner's error */
    expect_refused(end.pd, memory->address, 0, ACCESS, EINVAL);
    expect_refused(end.pd, memory->address, SIZE, IBV_ACCESS_REMOTE_WRITE, EINVAL); /* needs local write */
    expect_refused(end.pd, memory->address, SIZE, IBV_ACCESS_ON_DEMAND, EINVAL);
    expect_fd_refused(end.pd, 0, 4096, 0, pipe_fds[0], EINVAL);
    expect_fd_refused(end.pd, 0, 4096, 0, -1, EBADF);
    expect_fd_refused(end.pd, 0, 0, 0, memory->dmabuf[0], EINVAL);
    expect_fd_refused(end.pd, 0, 4096, 8, memory->dmabuf[0], EINVAL); /* not at the same place in the page */
    expect_fd_refused(end.pd, 4096, SIZE, 0, memory->dmabuf[0], EINVAL);
    expect_fd_refused(end.pd, UINT64_MAX - 4095, 8192, 0, memory->dmabuf[0], EINVAL);
    device.client.acquire_dmabuf = NULL;
    expect_fd_refused(end.pd, 0, 4096, 0, memory->dmabuf[0], EINVAL);
    atomic_store(&device.fails_at, 1);
    expect_refused(end.pd, memory->address, SIZE, ACCESS, ENOSPC);
    struct ibv_mr *mr = ibv_reg_mr(end.pd, memory->address, SIZE, ACCESS);
    CHECK(mr != NULL);
    CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
    CHECK_EQ(ibv_rereg_mr(end.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory->address, SIZE, 0),
             IBV_REREG_MR_ERR_CMD);
    CHECK_EQ(ibv_dealloc_pd(end.pd), EBUSY);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_EQ(atomic_load(&device.acquired), 0);
    munmap(nobodys, 4096);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    software_free(memory);
    end_close(&end);
    stop(&device);
}

/* The processor copies inline data as it is posted, and cannot read the memory. A window has no place there. */
static void inline_data_and_windows_are_refused(void) {
    struct end a, b;
    start(&device);
    pair_open(&a, &b, &defaults);
    struct there there = there_open(&device, &a, ACCESS | IBV_ACCESS_MW_BIND);
    struct ibv_sge sge = piece(&there, 0, 8);
    struct ibv_send_wr wr = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
    }, *bad;
    CHECK_EQ(ibv_post_send(a.qp, &wr, &bad), EFAULT);
    pair_talk(&a, &b);
    struct ibv_mw *mw = ibv_alloc_mw(a.pd, IBV_MW_TYPE_2);
    CHECK(mw != NULL);
    struct ibv_send_wr bind = {
        .wr_id = 3, .opcode = IBV_WR_BIND_MW,
        .bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = {
            .mr = there.mr, .addr = (uintptr_t) there.memory->address, .length = 64,
            .mw_access_flags = IBV_ACCESS_REMOTE_READ,
        } },
    };
    CHECK_EQ(ibv_post_send(a.qp, &bind, &bad), 0);
    expect_wc(a.send_cq, 3, IBV_WC_MW_BIND_ERR);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    there_close(&there);
    pair_close(&a, &b);
    stop(&device);
}

/* ---- clients ---- */

static void a_table_that_is_incomplete_is_refused(void) {
    struct rdma_peer_memory_client table;
    software_start(&device);
    CHECK_EQ(rdma_peer_memory_register_client(NULL), EINVAL);
    table = device.client, table.version++;
    CHECK_EQ(rdma_peer_memory_register_client(&table), EINVAL);
    table = device.client, table.name = NULL;
    CHECK_EQ(rdma_peer_memory_register_client(&table), EINVAL);
    table = device.client, table.acquire = NULL;
    CHECK_EQ(rdma_peer_memory_register_client(&table), EINVAL);
    table = device.client, table.copy_in = NULL;
    CHECK_EQ(rdma_peer_memory_register_client(&table), EINVAL);
    table = device.client, table.copy_out = NULL;
    CHECK_EQ(rdma_peer_memory_register_client(&table), EINVAL);
    table = device.client, table.release = NULL;
    CHECK_EQ(rdma_peer_memory_register_client(&table), EINVAL);
    CHECK_EQ(rdma_peer_memory_register_client(&device.client), 0);
    CHECK_EQ(rdma_peer_memory_register_client(&device.client), EEXIST);
    CHECK_EQ(rdma_peer_memory_unregister_client(&table), ENOENT);
    stop(&device);
    CHECK_EQ(rdma_peer_memory_unregister_client(&device.client), ENOENT);
}

/* A WRITE, a READ, and a message each way, of the memory of a device at one end. Returns false once one fails. */
static bool exchange(struct end *a, struct end *b) {
    struct software_memory *memory = software_allocate(&device, SIZE);
    struct ibv_mr *mr = ibv_reg_mr(b->pd, memory->address, SIZE, ACCESS);
    bool done = mr != NULL;
    if (done) {
        struct there there = { memory, mr };
        struct address to = address_in(&there);
        struct ibv_sge sge = piece(&there, 0, 600000);
        struct ibv_wc wc;
        enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND };
        for (unsigned i = 0; i < 3 && done; i++) {
            CHECK_EQ(opcodes[i] != IBV_WR_SEND ? 0 : post_receive_list(b, 10, &sge, 1), 0);
            CHECK_EQ(post_rdma(a, i, opcodes[i], 0, 0, 600000, &to, 0), 0);
            done = (wc = next_wc(a->send_cq)).status == IBV_WC_SUCCESS;
            CHECK(done || wc.status == IBV_WC_REM_OP_ERR);
            if (opcodes[i] == IBV_WR_SEND) {
                wc = next_wc(b->recv_cq);
                CHECK_EQ(wc.status, done ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR);
            }
        }
        if (done) {
            CHECK_EQ(post_recv(a, 11, 0, 600000), 0);
            CHECK_EQ(post_list(b, 12, IBV_WR_SEND, &sge, 1, NULL), 0);
            wc = next_wc(b->send_cq);
            done = wc.status == IBV_WC_SUCCESS;
            CHECK(done || wc.status == IBV_WC_LOC_PROT_ERR);
            CHECK(done || wc.vendor_err == EFAULT);
            if (done) {
                expect_wc(a->recv_cq, 11, IBV_WC_SUCCESS);
            }
        }
        CHECK_EQ(ibv_dereg_mr(mr), 0);
    } else {
        CHECK_EQ(errno, ENOSPC);
    }
    software_free(memory);
    return done;
}

/* Has each call of the client fail in its turn; another connection of the process is not concerned. */
static void a_client_that_fails_ends_one_connection(void) {
    struct options options = defaults;
    options.separate_cqs = true;
    struct end c, d;
    start(&device);
    pair_open(&c, &d, &options);
    bool done = false;
    int calls = 0;
    for (; !done; calls++) {
        struct end a, b;
        pair_open(&a, &b, &options);
        atomic_store(&device.fails_at, calls + 1);
        done = exchange(&a, &b);
        CHECK_EQ(done, atomic_load(&device.fails_at) != 0);
        atomic_store(&device.fails_at, 0);
        CHECK_EQ(atomic_load(&device.acquired), 0);
        pair_talk(&c, &d);
        pair_close(&a, &b);
    }
    CHECK(calls > 10); /* acquire, and several pieces each way */
    pair_close(&c, &d);
    stop(&device);
}

/* A region outlives its client; the next one may have the same address. */
static void a_client_that_leaves_takes_its_memory_with_it(void) {
    struct end a, b;
    start(&device);
    pair_open(&a, &b, &defaults);
    struct there there = there_open(&device, &b, ACCESS);
    struct address to = address_in(&there);
    CHECK_EQ(rdma_peer_memory_unregister_client(&device.client), 0);
    CHECK_EQ(atomic_load(&device.acquired), 0);
    expect_refused(b.pd, there.memory->address, SIZE, ACCESS, EFAULT);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_REM_OP_ERR);
    expect_async(b.context, IBV_EVENT_QP_FATAL);
    CHECK_EQ(ibv_dereg_mr(there.mr), 0);
    pair_close(&a, &b);

    CHECK_EQ(rdma_peer_memory_register_client(&device.client), 0);
    pair_open(&a, &b, &defaults);
    struct ibv_mr *again = ibv_reg_mr(b.pd, there.memory->address, SIZE, ACCESS);
    CHECK(again != NULL);
    to.rkey = again->rkey;
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(ibv_dereg_mr(again), 0);
    software_free(there.memory);
    pair_close(&a, &b);
    stop(&device);
}

#define ROUNDS 200u

static void *come_and_go(void *argument) {
    static struct software_device other;
    for (uint32_t i = 0; i < rounds(ROUNDS, ROUNDS / 4); i++) {
        start(&other);
        stop(&other);
    }
    return argument;
}

/* Registers and deregisters while another client comes and goes. */
static void clients_come_and_go_beside_registrations(void) {
    struct end end;
    pthread_t thread;
    start(&device);
    end_open(&end, &defaults);
    CHECK_EQ(pthread_create(&thread, NULL, come_and_go, NULL), 0);
    for (uint32_t i = 0; i < rounds(ROUNDS, ROUNDS / 4); i++) {
        struct there there = there_open(&device, &end, ACCESS);
        there_close(&there);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    end_close(&end);
    stop(&device);
}

#define LIBRARY FAKE_GPU_FOLDER "/libsoftware_device.so"

/* A library that was loaded by its name: its memory is registered, and unknown memory is nobody's. */
static void use_library(void) {
    struct end a, b;
    struct software_memory *memory;
    int64_t (*allocate)(void *env, void *class, int size);
    setenv("RDMA_EMBEDDED_PEER_MEMORY", LIBRARY, 1);
    pair_open(&a, &b, &defaults);
    expect_refused(b.pd, (void *) 4096, 4096, ACCESS, EFAULT);
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    CHECK(library != NULL);
    CHECK((*(void **) &allocate = dlsym(library, "Java_io_netty_channel_rdma_SoftwareDevice_allocate0")) != NULL);
    memory = (struct software_memory *) (uintptr_t) allocate(NULL, NULL, SIZE);
    CHECK(memory != NULL);
    struct ibv_mr *mr = ibv_reg_mr(b.pd, memory->address, SIZE, ACCESS);
    CHECK(mr != NULL);
    struct address to = address_of(mr);
    fill(a.buffer, 5000, 1);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 5000, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(memory->bytes, a.buffer, 5000), 0);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    pair_close(&a, &b);
}

/* Registers memory of nobody with that library, and returns what is printed. */
static const char *print_of(const char *name) {
    static char text[4096];
    struct end end;
    FILE *file = tmpfile();
    CHECK(file != NULL);
    setenv("RDMA_EMBEDDED_PEER_MEMORY", name, 1);
    end_open(&end, &defaults);
    int standard_error = dup(STDERR_FILENO);
    CHECK_EQ(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
    for (int i = 0; i < 2; i++) { /* printed once */
        expect_refused(end.pd, (void *) 4096, 4096, ACCESS, EFAULT);
    }
    CHECK_EQ(dup2(standard_error, STDERR_FILENO), STDERR_FILENO);
    close(standard_error);
    rewind(file);
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = 0;
    fclose(file);
    end_close(&end);
    return text;
}

static void name_nothing(void) {
    CHECK(strcmp(print_of(""), "") == 0);
}

static void name_a_file_that_is_missing(void) {
    const char *text = print_of("/nowhere/libclient.so");
    CHECK(strstr(text, "RDMA_EMBEDDED_PEER_MEMORY=/nowhere/libclient.so: ") != NULL);
    CHECK(strstr(text, "No such file") != NULL);
    CHECK(strchr(text, '\n') == text + strlen(text) - 1);
}

static void name_a_library_without_clients(void) {
    CHECK(strstr(print_of("libc.so.6"), "rdma_peer_memory_start") != NULL);
}

static void name_a_library_that_fails(void) {
    setenv("SOFTWARE_DEVICE_FAILS", "1", 1);
    CHECK(strstr(print_of(LIBRARY), strerror(EPERM)) != NULL);
}

/* Each in a child, which loads what its own environment names. */
static void a_library_is_loaded_by_its_name(void) {
    static void (*const bodies[])(void) = {
        use_library, name_nothing, name_a_file_that_is_missing, name_a_library_without_clients,
        name_a_library_that_fails,
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
        fflush(stdout);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            bodies[i]();
            _exit(0);
        }
        expect_exit(child, 0);
    }
}

static void a_forked_child_has_no_clients(void) {
    struct end end;
    start(&device);
    end_open(&end, &defaults);
    struct there there = there_open(&device, &end, ACCESS);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_EQ(ibv_dereg_mr(there.mr), 0);
        CHECK_EQ(atomic_load(&device.acquired), 1); /* the client is not called */
        CHECK_EQ(rdma_peer_memory_unregister_client(&device.client), ENOENT);
        _exit(0);
    }
    expect_exit(child, 0);
    there_close(&there);
    end_close(&end);
    stop(&device);
}

/* ---- memory that goes away ---- */

/* Each operation on freed memory, by a connection of its own; a second one goes on. */
static void operations_on_freed_memory_fail_at_both_ends(void) {
    struct options options = defaults;
    options.separate_cqs = true;
    start(&device);
    for (int i = 0; i < 5; i++) {
        struct end a, b, c, d;
        pair_open(&a, &b, &options);
        pair_open(&c, &d, &options);
        struct there at_a = there_open(&device, &a, ACCESS), at_b = there_open(&device, &b, ACCESS);
        struct address to = address_in(&at_b), host = end_address(&b);
        struct ibv_sge own = piece(&at_a, 0, 5000), target = piece(&at_b, 0, 5000);
        CHECK_EQ(post_receive_list(&b, 9, &target, 1), 0);
        software_free(at_a.memory);
        software_free(at_b.memory);
        switch (i) {
            case 0:
            case 1:
                CHECK_EQ(post_rdma(&a, 1, i == 0 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, 0, 0, 5000, &to, 0), 0);
                expect_wc(a.send_cq, 1, IBV_WC_REM_OP_ERR);
                expect_async(b.context, IBV_EVENT_QP_FATAL);
                break;
            case 2:
                CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 5000), 0);
                expect_fault(b.recv_cq, 9);
                expect_wc(a.send_cq, 1, IBV_WC_REM_OP_ERR);
                break;
            default:
                CHECK_EQ(post_list(&a, 1, i == 3 ? IBV_WR_SEND : IBV_WR_RDMA_READ, &own, 1, &host), 0);
                expect_fault(a.send_cq, 1);
        }
        CHECK_EQ(atomic_load(&device.copies), 0);
        pair_talk(&c, &d);
        CHECK_EQ(ibv_dereg_mr(at_a.mr), 0);
        CHECK_EQ(ibv_dereg_mr(at_b.mr), 0);
        pair_close(&c, &d);
        pair_close(&a, &b);
    }
    stop(&device);
}

/* Frees memory while a peer writes and reads it; what was copied when it went was copied to memory that was there. */
static void memory_is_freed_in_the_middle_of_operations(void) {
    for (uint32_t round = 0; round < rounds(40, 12); round++) {
        struct end a, b;
        pthread_t thread;
        start(&device);
        device.on_copy = count_copy;
        pair_open(&a, &b, &defaults);
        struct there there = there_open(&device, &b, ACCESS);
        struct address to = address_in(&there);
        atomic_store(&victim, there.memory);
        atomic_store(&copies_to_free, (int) round / 2 + 1);
        CHECK_EQ(pthread_create(&thread, NULL, free_in_the_middle, NULL), 0);
        struct ibv_wc wc = { 0 };
        enum ibv_wr_opcode opcode = round % 2 == 0 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
        while (wc.status == IBV_WC_SUCCESS) {
            CHECK_EQ(post_rdma(&a, 1, opcode, 0, 0, SIZE, &to, 0), 0);
            wc = next_wc(a.send_cq);
        }
        CHECK_EQ(wc.status, IBV_WC_REM_OP_ERR);
        expect_async(b.context, IBV_EVENT_QP_FATAL);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(ibv_dereg_mr(there.mr), 0);
        pair_close(&a, &b);
        stop(&device);
    }
}

int main(void) {
    RUN(a_peer_writes_and_reads_the_memory);
    RUN(messages_go_from_device_to_device);
    RUN(a_write_and_a_read_go_from_device_to_device);
    RUN(a_long_message_of_a_device_has_few_pieces);
    RUN(a_descriptor_gives_the_memory_at_an_address_chosen);
    RUN(datagrams_use_the_memory);
    RUN(a_message_kept_in_the_completion_is_placed_by_the_poll);
    RUN(unreliable_connections_use_the_memory);
    RUN(shared_receives_of_xrc_use_the_memory);
    RUN(a_peer_has_only_the_range_and_the_rights_given);
    RUN(atomics_are_refused_as_without_the_right);
    RUN(the_result_of_an_atomic_is_placed_in_the_memory);
    RUN(local_rights_and_ranges_are_checked);
    RUN(registration_checks_its_arguments);
    RUN(inline_data_and_windows_are_refused);
    RUN(a_table_that_is_incomplete_is_refused);
    RUN(a_client_that_fails_ends_one_connection);
    RUN(a_client_that_leaves_takes_its_memory_with_it);
    RUN(clients_come_and_go_beside_registrations);
    RUN(a_library_is_loaded_by_its_name);
    RUN(a_forked_child_has_no_clients);
    RUN(operations_on_freed_memory_fail_at_both_ends);
    RUN(memory_is_freed_in_the_middle_of_operations);
    return 0;
}
