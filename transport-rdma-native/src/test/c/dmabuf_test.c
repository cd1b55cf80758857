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
/* Memory regions of a file descriptor. On the embedded provider a sealed memfd stands in for a dma-buf. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

#define FILE_SIZE (1u << 20)
#define OFFSET (3 * 4096 + 256)
#define LENGTH 300000u
#define IOVA (UINT64_C(0x7000000000) + 256)
#define ACCESS                                                                                                        \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static int create_file(int seals) {
    int fd = memfd_create("dmabuf-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(fd >= 0);
    CHECK_EQ(ftruncate(fd, FILE_SIZE), 0);
    CHECK_EQ(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static int count_mappings(void) {
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof(line), maps) != NULL) {
        count += strstr(line, "dmabuf-test") != NULL;
    }
    fclose(maps);
    return count;
}

/* Soft-RoCE registers no file at all. */
static void to_a_device_a_memfd_is_no_dma_buf(void) {
    struct end end;
    end_open(&end, &defaults);
    int fd = create_file(F_SEAL_SHRINK);
    CHECK(ibv_reg_dmabuf_mr(end.pd, 0, 4096, 0, fd, ACCESS) == NULL);
    CHECK_EQ(errno, DEVICE_OR_SOFT_ROCE(EINVAL, EOPNOTSUPP));
    close(fd);
    end_close(&end);
}

/* Does every operation on the memory, which the program itself sees by another mapping, and the provider by a third. */
static void operations_reach_the_file_by_the_address_chosen(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    int fd = create_file(F_SEAL_SHRINK);
    char *file = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(file != MAP_FAILED);
    struct ibv_mr *mr = ibv_reg_dmabuf_mr(b.pd, OFFSET, LENGTH, IOVA, fd, ACCESS);
    CHECK(mr != NULL);
    CHECK_EQ(mr->length, LENGTH);
    CHECK_EQ((uintptr_t) mr->addr, OFFSET);
    close(fd); /* the descriptor is not needed any more, as with a mapping */
    struct address to = { .buffer = IOVA, .rkey = mr->rkey };

    memset(a.buffer, 0x5a, LENGTH);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, LENGTH, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(file + OFFSET, a.buffer, LENGTH), 0);
    CHECK_EQ(file[OFFSET - 1], 0);
    CHECK_EQ(file[OFFSET + LENGTH], 0);

    memset(file + OFFSET + 1000, 0x33, 5000);
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, 0, 5000, &to, 1000), 0);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(file + OFFSET + 1000, a.buffer, 5000), 0);

    memset(file + OFFSET, 0, 8);
    CHECK_EQ(post_atomic(&a, 3, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to, 0, 77, 0), 0);
    expect_wc(a.send_cq, 3, IBV_WC_SUCCESS);
    CHECK_EQ(*(uint64_t *) (file + OFFSET), 77);

    /* Uses it as a local region: received into, and sent from. */
    struct ibv_sge sge = { IOVA + 2000, 100, mr->lkey };
    struct ibv_recv_wr receive = { .wr_id = 4, .sg_list = &sge, .num_sge = 1 }, *bad_receive;
    CHECK_EQ(b.context->ops.post_recv(b.qp, &receive, &bad_receive), 0);
    CHECK_EQ(post_send(&a, 5, IBV_WR_SEND, 0, 9000, 100), 0);
    expect_wc(b.recv_cq, 4, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 5, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(file + OFFSET + 2000, a.buffer + 9000, 100), 0);
    struct ibv_send_wr send = { .wr_id = 6, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad_send;
    CHECK_EQ(post_recv(&a, 7, 20000, 100), 0);
    CHECK_EQ(b.context->ops.post_send(b.qp, &send, &bad_send), 0);
    expect_wc(a.recv_cq, 7, IBV_WC_SUCCESS);
    expect_wc(b.send_cq, 6, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(file + OFFSET + 2000, a.buffer + 20000, 100), 0);

    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_EQ(munmap(file, FILE_SIZE), 0);
    CHECK_EQ(count_mappings(), 0);
    pair_close(&a, &b);
}

static void outside_of_the_region_is_refused(void) {
    static const int64_t offsets[] = { -1, LENGTH - 7, LENGTH, -(int64_t) IOVA + OFFSET };
    for (unsigned i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        struct end a, b;
        pair_open(&a, &b, &defaults);
        int fd = create_file(F_SEAL_SHRINK);
        struct ibv_mr *mr = ibv_reg_dmabuf_mr(b.pd, OFFSET, LENGTH, IOVA, fd, ACCESS);
        CHECK(mr != NULL);
        struct address to = { .buffer = IOVA, .rkey = mr->rkey };
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, (size_t) offsets[i]), 0);
        expect_wc(a.send_cq, 1, IBV_WC_REM_ACCESS_ERR);
        CHECK_EQ(ibv_dereg_mr(mr), 0);
        close(fd);
        pair_close(&a, &b);
    }
}

static void expect_refused(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access,
                           int error) {
    errno = 0;
    CHECK(ibv_reg_dmabuf_mr(pd, offset, length, iova, fd, access) == NULL);
    CHECK_EQ(errno, error);
}

static void registration_checks_its_arguments(void) {
    struct end end;
    end_open(&end, &defaults);
    int fd = create_file(F_SEAL_SHRINK);
    expect_refused(end.pd, 0, 4096, 8, fd, ACCESS, EINVAL); /* not at the same place in the page */
    expect_refused(end.pd, 0, 0, 0, fd, ACCESS, EINVAL);
    expect_refused(end.pd, 0, FILE_SIZE + 1, 0, fd, ACCESS, EINVAL);
    expect_refused(end.pd, FILE_SIZE, 1, 0, fd, ACCESS, EINVAL);
    expect_refused(end.pd, UINT64_MAX - 4095, 8192, 0, fd, ACCESS, EINVAL);
    expect_refused(end.pd, 0, 8192, UINT64_MAX - 4095, fd, ACCESS, EINVAL);
    expect_refused(end.pd, 0, 4096, 0, fd, IBV_ACCESS_REMOTE_WRITE, EINVAL); /* needs local write */
    expect_refused(end.pd, 0, 4096, 0, fd, IBV_ACCESS_ON_DEMAND, EINVAL);
    expect_refused(end.pd, 0, 4096, 0, -1, ACCESS, EBADF);
    int may_shrink = create_file(0), pipe_fds[2], zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
    CHECK_EQ(pipe(pipe_fds), 0);
    expect_refused(end.pd, 0, 4096, 0, may_shrink, ACCESS, EINVAL);
    expect_refused(end.pd, 0, 4096, 0, pipe_fds[0], ACCESS, EINVAL);
    expect_refused(end.pd, 0, 4096, 0, zero, ACCESS, EINVAL);
    int constant = create_file(F_SEAL_SHRINK | F_SEAL_WRITE);
    expect_refused(end.pd, 0, 4096, 0, constant, ACCESS, EPERM);
    struct ibv_mr *mr = ibv_reg_dmabuf_mr(end.pd, 0, FILE_SIZE, 0, constant, IBV_ACCESS_REMOTE_READ);
    CHECK(mr != NULL);
    CHECK_EQ(ibv_dealloc_pd(end.pd), EBUSY);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_EQ(count_mappings(), 0);
    int fds[] = { fd, may_shrink, pipe_fds[0], pipe_fds[1], zero, constant };
    for (unsigned i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        close(fds[i]);
    }
    end_close(&end);
}

int main(void) {
    if (!is_embedded()) {
        RUN(to_a_device_a_memfd_is_no_dma_buf);
    } else {
        RUN(operations_reach_the_file_by_the_address_chosen);
        RUN(outside_of_the_region_is_refused);
        RUN(registration_checks_its_arguments);
    }
    return 0;
}
