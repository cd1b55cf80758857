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
 * The embedded provider's clients for graphics processors (embedded/device/gpu_client.h), with fakes of the vendors'
 * libraries: the copies, their contexts and threads, libraries that fail at each call, and memory that goes away.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "check.h"
#include "embedded/base/closer.h"
#include "embedded/device/lending.h"
#include "embedded/link/arena.h"
#include "fake_gpu.h"
#include "lists.h"
#include "provider.h"
#include "ud_support.h"

#define SIZE (1u << 20)
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static const uint32_t lengths[] = { 1, 64, 5000, SIZE - 7 };
#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

/* ---- the vendors ---- */

static int (*cu_init)(unsigned), (*cu_retain)(void **, int), (*cu_set_current)(void *), (*cu_get_current)(void **),
        (*cu_create)(void **, unsigned, int), (*cu_destroy)(void *), (*cu_alloc)(uint64_t *, size_t),
        (*cu_free)(uint64_t), (*cu_export)(int *, uint64_t, size_t, int, unsigned long long);
static int (*hip_count)(int *), (*hip_set_device)(int), (*hip_malloc)(void **, size_t), (*hip_free)(void *),
        (*hip_export)(const void *, size_t, int *, uint64_t *);

#define LOOK_UP(pointer, name) CHECK((*(void **) &(pointer) = dlsym(library, name)) != NULL)

static void cuda_start(void *library) {
    void *context;
    if (cu_init != NULL) {
        return;
    }
    LOOK_UP(cu_init, "cuInit");
    LOOK_UP(cu_retain, "cuDevicePrimaryCtxRetain");
    LOOK_UP(cu_set_current, "cuCtxSetCurrent");
    LOOK_UP(cu_get_current, "cuCtxGetCurrent");
    LOOK_UP(cu_create, "cuCtxCreate_v2");
    LOOK_UP(cu_destroy, "cuCtxDestroy_v2");
    LOOK_UP(cu_alloc, "cuMemAlloc_v2");
    LOOK_UP(cu_free, "cuMemFree_v2");
    LOOK_UP(cu_export, "cuMemGetHandleForAddressRange");
    CHECK_EQ(cu_init(0), 0);
    CHECK_EQ(cu_retain(&context, 0), 0);
    CHECK_EQ(cu_set_current(context), 0);
}

static uint64_t cuda_allocate(size_t size) {
    uint64_t memory;
    CHECK_EQ(cu_alloc(&memory, size), 0);
    return memory;
}

static void cuda_free(uint64_t memory) {
    CHECK_EQ(cu_free(memory), 0);
}

static int cuda_export(uint64_t memory, size_t size) {
    int fd;
    CHECK_EQ(cu_export(&fd, memory, size, 1, 0), 0);
    return fd;
}

static void hip_start(void *library) {
    int count;
    if (hip_count != NULL) {
        return;
    }
    LOOK_UP(hip_count, "hipGetDeviceCount");
    LOOK_UP(hip_set_device, "hipSetDevice");
    LOOK_UP(hip_malloc, "hipMalloc");
    LOOK_UP(hip_free, "hipFree");
    LOOK_UP(hip_export, "hsa_amd_portable_export_dmabuf");
    CHECK_EQ(hip_count(&count), 0);
}

/* Memory of the second processor, which is not the one of any thread. */
static uint64_t hip_allocate(size_t size) {
    void *memory;
    CHECK_EQ(hip_set_device(1), 0);
    CHECK_EQ(hip_malloc(&memory, size), 0);
    CHECK_EQ(hip_set_device(0), 0);
    return (uintptr_t) memory;
}

static void hip_free_memory(uint64_t memory) {
    CHECK_EQ(hip_free((void *) (uintptr_t) memory), 0);
}

static int hip_export_memory(uint64_t memory, size_t size) {
    int fd;
    uint64_t offset;
    CHECK_EQ(hip_export((void *) (uintptr_t) memory, size, &fd, &offset), 0);
    return fd;
}

static struct vendor {
    const char *library;
    void (*start)(void *library);
    uint64_t (*allocate)(size_t size);
    void (*free)(uint64_t memory);
    int (*export)(uint64_t memory, size_t size);
    struct fake_gpu fake;
} vendors[] = {
    { "libcuda.so.1", cuda_start, cuda_allocate, cuda_free, cuda_export, { 0 } },
    { "libamdhip64.so.6", hip_start, hip_allocate, hip_free_memory, hip_export_memory, { 0 } },
};
#define CUDA (&vendors[0])
#define VENDORS (sizeof(vendors) / sizeof(*vendors))

/* Vendor of the test that runs. */
static struct vendor *vendor;

static void each_vendor(void (*test)(void)) {
    for (vendor = vendors; vendor < vendors + VENDORS; vendor++) {
        test();
    }
    vendor = CUDA;
}

/* ---- memory ---- */

struct there {
    uint64_t memory;
    char *bytes;
    struct ibv_mr *mr;
};

static struct there there_open(const struct end *end) {
    struct there there = { .memory = vendor->allocate(SIZE) };
    there.bytes = vendor->fake.bytes(there.memory);
    there.mr = ibv_reg_mr(end->pd, (void *) (uintptr_t) there.memory, SIZE, ACCESS);
    CHECK(there.mr != NULL);
    return there;
}

static void there_close(const struct there *there) {
    CHECK_EQ(ibv_dereg_mr(there->mr), 0);
    vendor->free(there->memory);
}

/* No thread is in a context; the provider's own may pin and unpin memory for a moment. */
static void expect_nobody_inside(void) {
    CHECK_EVENTUALLY(vendor->fake.counts().entered == 0 && vendor->fake.counts().relaxed == 0);
}

/* Nothing is left of operations and registrations. */
static void expect_nothing_left(void) {
    CHECK_EQ(vendor->fake.counts().streams, 0);
    expect_nobody_inside();
}

/*
 * Memory that earlier tests had pinned is not any more: to unpin it later would be counted, and what one vendor has
 * pinned is not pinned by another. There are no queue pairs, which would have the memory.
 */
static void expect_nothing_pinned(void) {
    for (size_t i = 0; i < VENDORS; i++) {
        CHECK_EVENTUALLY(closer_is_done() && vendors[i].fake.counts().pinned == 0);
    }
}

/* ---- processes without a processor ---- */

static void no_library_is_loaded_for_a_process(void) {
    struct end end;
    end_open(&end, &defaults);
    void *nobodys = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(nobodys != MAP_FAILED);
    expect_refused(end.pd, nobodys, SIZE, ACCESS, EFAULT);
    CHECK(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) == NULL);
    CHECK(dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD) == NULL);
    munmap(nobodys, SIZE);
    end_close(&end);
}

static void start(void) {
    for (vendor = vendors; vendor < vendors + VENDORS; vendor++) {
        void *library = fake_gpu_load(vendor->library, &vendor->fake);
        CHECK(library != NULL);
        vendor->start(library);
    }
    vendor = CUDA;
}

static void nothing_is_acquired_before_the_application_uses_the_library(void) {
    struct end end;
    end_open(&end, &defaults);
    void *nobodys = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(nobodys != MAP_FAILED);
    for (vendor = vendors; vendor < vendors + VENDORS; vendor++) {
        void *library = fake_gpu_load(vendor->library, &vendor->fake);
        CHECK(library != NULL);
        expect_refused(end.pd, nobodys, SIZE, ACCESS, EFAULT);
        vendor->start(library);
        expect_refused(end.pd, nobodys, SIZE, ACCESS, EFAULT);
    }
    vendor = CUDA;
    munmap(nobodys, SIZE);
    end_close(&end);
}

/* ---- operations ---- */

static void write_read_send_and_receive(void) {
    struct options options = defaults;
    options.separate_cqs = true;
    struct end a, b;
    pair_open(&a, &b, &options);
    struct there there = there_open(&b), other = there_open(&a);
    struct address to = address_of(there.mr);
    for (size_t i = 0; i < LENGTHS; i++) {
        uint32_t length = lengths[i];
        fill(a.buffer, length, length);
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, length, &to, 5), 0);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(there.bytes + 5, a.buffer, length), 0);
        fill(there.bytes, length, length + 1);
        CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, 0, length, &to, 0), 0);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(there.bytes, a.buffer, length), 0);
        struct ibv_sge target[2] = { piece_of(b.mr, 0, 7), piece_of(there.mr, 3, SIZE - 3) };
        struct ibv_sge source[2] = { piece_of(a.mr, 0, 7), piece_of(other.mr, 1, length) };
        fill(a.buffer, 7, 9);
        fill(other.bytes, SIZE, 10);
        CHECK_EQ(post_receive_list(&b, 3, target, 2), 0);
        CHECK_EQ(post_list(&a, 4, IBV_WR_SEND, source, 2, NULL), 0);
        expect_wc(b.recv_cq, 3, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, 4, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(b.buffer, a.buffer, 7), 0);
        CHECK_EQ(memcmp(there.bytes + 3, other.bytes + 1, length), 0);
    }
    there_close(&there);
    there_close(&other);
    pair_close(&a, &b);
    expect_nothing_left();
}

static void memory_is_written_read_sent_and_received_into(void) {
    each_vendor(write_read_send_and_receive);
}

/* The memory of two vendors in one list. */
static void a_list_has_memory_of_several_devices(void) {
    struct options options = defaults;
    options.separate_cqs = true;
    struct end a, b;
    struct there at[VENDORS];
    pair_open(&a, &b, &options);
    for (size_t i = 0; i < VENDORS; i++) {
        vendor = &vendors[i];
        at[i] = there_open(&b);
    }
    struct ibv_sge target[2] = { piece_of(at[0].mr, 0, 100000), piece_of(at[1].mr, 8, 100000) };
    fill(a.buffer, 200000, 3);
    CHECK_EQ(post_receive_list(&b, 1, target, 2), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 200000), 0);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(at[0].bytes, a.buffer, 100000), 0);
    CHECK_EQ(memcmp(at[1].bytes + 8, a.buffer + 100000, 100000), 0);
    for (size_t i = 0; i < VENDORS; i++) {
        vendor = &vendors[i];
        there_close(&at[i]);
        expect_nothing_left();
    }
    vendor = CUDA;
    pair_close(&a, &b);
}

/* The provider's thread writes the memory while the application does not poll. It has no context of its own. */
static void write_without_polls(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct there there = there_open(&b);
    struct address to = address_of(there.mr);
    fill(a.buffer, SIZE, 4);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, SIZE, &to, 0), 0);
    CHECK_EVENTUALLY(vendor->fake.counts().entered == 0 && memcmp(there.bytes, a.buffer, SIZE) == 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    there_close(&there);
    pair_close(&a, &b);
    expect_nothing_left();
}

static void the_engine_copies_in_the_context_of_the_memory(void) {
    each_vendor(write_without_polls);
}

/* Two contexts, neither of which is the thread's own. Of memory in a context that is destroyed, nothing is used. */
static void each_range_is_copied_in_its_own_context(void) {
    struct end a, b;
    void *own, *contexts[2], *current;
    struct there at[2];
    CHECK_EQ(cu_get_current(&own), 0);
    pair_open(&a, &b, &defaults);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(cu_create(&contexts[i], 0, i), 0);
        at[i] = there_open(&b);
        CHECK_EQ(cu_set_current(own), 0);
    }
    for (int i = 0; i < 2; i++) {
        struct address to = address_of(at[i].mr);
        fill(a.buffer, SIZE, (uint32_t) i + 1);
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, SIZE, &to, 0), 0);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(at[i].bytes, a.buffer, SIZE), 0);
        CHECK_EQ(cu_get_current(&current), 0);
        CHECK(current == own);
    }
    CHECK_EQ(cu_destroy(contexts[0]), 0);
    struct address to = address_of(at[0].mr);
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_WRITE, 0, 0, 64, &to, 0), 0);
    expect_wc(a.send_cq, 2, IBV_WC_REM_OP_ERR);
    expect_async(b.context, IBV_EVENT_QP_FATAL);
    CHECK_EQ(ibv_dereg_mr(at[0].mr), 0);
    there_close(&at[1]);
    pair_close(&a, &b);
    expect_nobody_inside();
}

/* Memory that was mapped from several parts has no context; that of its device is kept meanwhile. */
static void mapped_memory_of_several_parts_is_one_range(void) {
    struct end a, b;
    expect_nothing_pinned();
    pair_open(&a, &b, &defaults);
    int retained = CUDA->fake.counts().retained;
    uint64_t memory = CUDA->fake.map(SIZE / 4, 4);
    struct ibv_mr *mr = ibv_reg_mr(b.pd, (void *) (uintptr_t) memory, SIZE, ACCESS);
    CHECK(mr != NULL);
    CHECK_EQ(CUDA->fake.counts().retained, retained + 1);
    expect_refused(b.pd, (void *) (uintptr_t) memory, SIZE + 1, ACCESS, EFAULT);
    struct address to = address_of(mr);
    fill(a.buffer, SIZE, 8);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, SIZE, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(memcmp(CUDA->fake.bytes(memory + i * SIZE / 4), a.buffer + i * SIZE / 4, SIZE / 4), 0);
    }
    CUDA->fake.unmap(memory);
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_WRITE, 0, 0, SIZE, &to, 0), 0);
    expect_wc(a.send_cq, 2, IBV_WC_REM_OP_ERR);
    expect_async(b.context, IBV_EVENT_QP_FATAL);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    pair_close(&a, &b);
    expect_nothing_left();
}

/* Another thread captures a graph: calls that have no part in it must say so. */
static void copies_go_on_while_a_graph_is_captured(void) {
    CUDA->fake.capture(true);
    write_without_polls();
    CUDA->fake.capture(false);
}

/* Does an operation. Returns whether some of its copies were of pinned memory. */
static bool is_pinned_by(struct end *a, enum ibv_wr_opcode opcode, const struct address *to) {
    int before = CUDA->fake.counts().pinned_copies;
    CHECK_EQ(post_rdma(a, 1, opcode, 0, 0, SIZE, to, 0), 0);
    expect_wc(a->send_cq, 1, IBV_WC_SUCCESS);
    return CUDA->fake.counts().pinned_copies > before;
}

/*
 * Long copies soon use the provider's shared memory as pinned memory: a WRITE the peer's, which is mapped read-only, a
 * READ the own one. It is unpinned before it is unmapped.
 */
static void the_shared_memory_is_pinned(void) {
    struct end a, b;
    expect_nothing_pinned();
    pair_open(&a, &b, &defaults);
    struct there there = there_open(&b);
    struct address to = address_of(there.mr);
    CHECK_EVENTUALLY(is_pinned_by(&a, IBV_WR_RDMA_WRITE, &to));
    CHECK_EVENTUALLY(is_pinned_by(&a, IBV_WR_RDMA_READ, &to));
    there_close(&there);
    pair_close(&a, &b);
    expect_nothing_pinned();
    expect_nothing_left();
}

/* ---- registration ---- */

#define OFFSET 8192u

/* The address that the application gives tells where a dma-buf is. */
static void register_descriptors(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    uint64_t memory = vendor->allocate(SIZE);
    int fd = vendor->export(memory, SIZE), access = ACCESS;
    struct ibv_mr *mr = ibv_reg_dmabuf_mr(b.pd, OFFSET, 65536, memory + OFFSET, fd, access);
    CHECK(mr != NULL);
    struct address to = { .buffer = memory + OFFSET, .rkey = mr->rkey };
    fill(a.buffer, 65536, 1);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 65536, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(vendor->fake.bytes(memory + OFFSET), a.buffer, 65536), 0);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    const struct {
        uint64_t offset, length, iova;
    } refused[] = {
        { 0, 65536, 0 }, { 0, 65536, (uintptr_t) a.buffer & ~UINT64_C(4095) }, { 0, SIZE + 1, memory },
        { SIZE, 4096, memory },
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        errno = 0;
        CHECK(ibv_reg_dmabuf_mr(b.pd, refused[i].offset, refused[i].length, refused[i].iova, fd, access) == NULL);
        CHECK_EQ(errno, EINVAL);
    }
    close(fd);
    vendor->free(memory);
    pair_close(&a, &b);
    expect_nothing_left();
}

static void a_descriptor_is_registered_with_the_address_of_its_memory(void) {
    each_vendor(register_descriptors);
}

static void more_than_the_allocation_is_refused(void) {
    struct end end;
    end_open(&end, &defaults);
    uint64_t memory = CUDA->allocate(SIZE);
    expect_refused(end.pd, (void *) (uintptr_t) memory, SIZE + 1, ACCESS, EFAULT);
    expect_refused(end.pd, (void *) (uintptr_t) (memory + SIZE - 1), 2, ACCESS, EFAULT);
    expect_refused(end.pd, (void *) (uintptr_t) memory, SIZE_MAX / 2, ACCESS, EFAULT);
    CUDA->free(memory);
    expect_refused(end.pd, (void *) (uintptr_t) memory, SIZE, ACCESS, EFAULT);
    end_close(&end);
    expect_nothing_left();
}

static void atomics_are_refused(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    uint64_t memory = CUDA->allocate(SIZE);
    struct ibv_mr *mr = ibv_reg_mr(b.pd, (void *) (uintptr_t) memory, SIZE, ACCESS | IBV_ACCESS_REMOTE_ATOMIC);
    CHECK(mr != NULL);
    struct address to = address_of(mr);
    CHECK_EQ(post_atomic(&a, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to, 0, 1, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_REM_ACCESS_ERR);
    expect_async(b.context, IBV_EVENT_QP_ACCESS_ERR);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CUDA->free(memory);
    pair_close(&a, &b);
}

/* ---- failures ---- */

/* Too short to have memory pinned on another thread, whose calls would be counted at any time. */
#define SHORT 3000u

/* A WRITE, a READ, and a message each way, of memory at one end. Returns false once one fails. */
static bool use(struct end *a, struct end *b, struct ibv_mr *mr) {
    static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND };
    struct address to = address_of(mr);
    struct ibv_sge sge = piece_of(mr, 0, SHORT);
    for (unsigned i = 0; i < 3; i++) {
        bool sends = opcodes[i] == IBV_WR_SEND;
        CHECK_EQ(sends ? post_receive_list(b, 10, &sge, 1) : 0, 0);
        CHECK_EQ(post_rdma(a, i, opcodes[i], 0, 0, SHORT, &to, 0), 0);
        enum ibv_wc_status status = next_wc(a->send_cq).status;
        CHECK(status == IBV_WC_SUCCESS || status == IBV_WC_REM_OP_ERR);
        if (sends) {
            CHECK_EQ(next_wc(b->recv_cq).status, status == IBV_WC_SUCCESS ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR);
        }
        if (status != IBV_WC_SUCCESS) {
            return false;
        }
    }
    CHECK_EQ(post_recv(a, 11, 0, SHORT), 0);
    CHECK_EQ(post_list(b, 12, IBV_WR_SEND, &sge, 1, NULL), 0);
    struct ibv_wc wc = next_wc(b->send_cq);
    if (wc.status != IBV_WC_SUCCESS) {
        CHECK_EQ(wc.status, IBV_WC_LOC_PROT_ERR);
        CHECK_EQ(wc.vendor_err, EFAULT);
        return false;
    }
    expect_wc(a->recv_cq, 11, IBV_WC_SUCCESS);
    return true;
}

/* Registers memory and uses it while the call with that number fails. Returns whether there was such a call. */
static bool use_with_failure(bool mapped, int call) {
    struct options options = defaults;
    options.separate_cqs = true;
    struct end a, b;
    pair_open(&a, &b, &options);
    uint64_t memory = mapped ? vendor->fake.map(SIZE, 1) : vendor->allocate(SIZE);
    vendor->fake.fail(call, 999);
    errno = 0;
    struct ibv_mr *mr = ibv_reg_mr(b.pd, (void *) (uintptr_t) memory, SIZE, ACCESS);
    if (mr != NULL) {
        use(&a, &b, mr);
        CHECK_EQ(ibv_dereg_mr(mr), 0);
    } else {
        CHECK(errno == EFAULT || errno == EIO);
    }
    bool failed = vendor->fake.calls() >= call;
    vendor->fake.fail(0, 0);
    if (mapped) {
        vendor->fake.unmap(memory);
    } else {
        vendor->free(memory);
    }
    pair_close(&a, &b);
    return failed;
}

/* Uses the memory once more without a failure: what an earlier one has left is used by it, and goes. */
static void use_and_leave_nothing(bool mapped) {
    CHECK(!use_with_failure(mapped, INT32_MAX));
    expect_nothing_left();
}

static void have_each_call_fail(void) {
    struct end c, d;
    struct options options = defaults;
    options.separate_cqs = true;
    expect_nothing_pinned();
    pair_open(&c, &d, &options);
    int retained = vendor->fake.counts().retained;
    for (int mapped = 0; mapped <= (vendor == CUDA); mapped++) {
        int call = 1;
        while (use_with_failure(mapped, call)) {
            expect_nobody_inside();
            pair_talk(&c, &d);
            call++;
        }
        CHECK(call > 40); /* 4 copies each way, and the registration */
        use_and_leave_nothing(mapped);
        CHECK_EQ(vendor->fake.counts().retained, retained);
    }
    pair_close(&c, &d);
}

static void a_library_that_fails_at_any_call_ends_one_connection(void) {
    each_vendor(have_each_call_fail);
}

/* An error that the context keeps, and the end of the library. */
static void a_library_that_fails_for_ever_ends_no_process(void) {
    static const int errors[] = { FAKE_GPU_ILLEGAL_ADDRESS, FAKE_GPU_DEINITIALIZED };
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
        struct end a, b;
        pair_open(&a, &b, &defaults);
        struct there there = there_open(&b);
        struct address to = address_of(there.mr);
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 64, &to, 0), 0);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        CUDA->fake.break_down(errors[i]);
        CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_WRITE, 0, 0, 64, &to, 0), 0);
        expect_wc(a.send_cq, 2, IBV_WC_REM_OP_ERR);
        expect_async(b.context, IBV_EVENT_QP_FATAL);
        expect_refused(b.pd, (void *) (uintptr_t) there.memory, SIZE, ACCESS, EFAULT);
        CHECK_EQ(ibv_dereg_mr(there.mr), 0);
        CUDA->fake.break_down(0);
        CUDA->free(there.memory);
        pair_close(&a, &b);
    }
    use_and_leave_nothing(false);
}

static void memory_that_cannot_be_pinned_is_used_as_it_is(void) {
    CUDA->fake.refuse_pins(true);
    int pinned = CUDA->fake.counts().pinned_copies;
    write_read_send_and_receive();
    CHECK_EQ(CUDA->fake.counts().pinned_copies, pinned);
    CUDA->fake.refuse_pins(false);
}

/* The addresses are given to other memory, which is not touched. */
static void use_freed_memory(void) {
    struct options options = defaults;
    options.separate_cqs = true;
    for (int i = 0; i < 4; i++) {
        struct end a, b, c, d;
        pair_open(&a, &b, &options);
        pair_open(&c, &d, &options);
        struct there there = there_open(i < 3 ? &b : &a);
        struct address to = address_of(there.mr), host = end_address(&b);
        struct ibv_sge sge = piece_of(there.mr, 0, 5000);
        CHECK_EQ(i != 2 ? 0 : post_receive_list(&b, 9, &sge, 1), 0);
        vendor->free(there.memory);
        uint64_t next = vendor->allocate(SIZE);
        fill(a.buffer, 5000, 1);
        CHECK_EQ(i < 2 ? post_rdma(&a, 1, i == 0 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, 0, 0, 5000, &to, 0)
                 : i == 2 ? post_send(&a, 1, IBV_WR_SEND, 0, 0, 5000)
                 : post_list(&a, 1, IBV_WR_RDMA_WRITE, &sge, 1, &host), 0);
        if (i == 2) {
            expect_fault(b.recv_cq, 9);
        }
        if (i < 3) {
            expect_wc(a.send_cq, 1, IBV_WC_REM_OP_ERR);
        } else {
            expect_fault(a.send_cq, 1);
        }
        const char *bytes = vendor->fake.bytes(next);
        for (size_t at = 0; at < SIZE; at++) {
            CHECK_EQ(bytes[at], 0);
        }
        pair_talk(&c, &d);
        vendor->free(next);
        CHECK_EQ(ibv_dereg_mr(there.mr), 0);
        pair_close(&c, &d);
        pair_close(&a, &b);
    }
    use_and_leave_nothing(false);
}

static void operations_on_freed_memory_fail_at_both_ends(void) {
    each_vendor(use_freed_memory);
}

static int copies_to_free;
static uint64_t victim;

static void *free_in_the_middle(void *argument) {
    while (CUDA->fake.counts().copies < copies_to_free) {
        sched_yield();
    }
    void *own;
    CHECK_EQ(cu_retain(&own, 0), 0);
    CHECK_EQ(cu_set_current(own), 0);
    CUDA->free(victim);
    return argument;
}

static void memory_is_freed_in_the_middle_of_operations(void) {
    for (uint32_t round = 0; round < rounds(40, 12); round++) {
        struct end a, b;
        pthread_t thread;
        pair_open(&a, &b, &defaults);
        struct there there = there_open(&b);
        struct address to = address_of(there.mr);
        victim = there.memory;
        copies_to_free = CUDA->fake.counts().copies + (int) round / 2 + 1;
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
    }
    use_and_leave_nothing(false);
}

/* ---- threads and processes ---- */

#define THREADS 3

static struct there shared;
static pthread_barrier_t barrier;

static void *write_and_read(void *argument) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct ibv_mr *mr = ibv_reg_mr(b.pd, (void *) (uintptr_t) shared.memory, SIZE, ACCESS);
    CHECK(mr != NULL);
    struct address to = address_of(mr);
    size_t offset = *(size_t *) argument * (SIZE / THREADS);
    pthread_barrier_wait(&barrier);
    for (uint32_t i = 0; i < rounds(100, 20); i++) {
        fill(a.buffer, SIZE / THREADS, i + (uint32_t) offset);
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, SIZE / THREADS, &to, offset), 0);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, SIZE, SIZE / THREADS, &to, offset), 0);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(a.buffer, a.buffer + SIZE, SIZE / THREADS), 0);
    }
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    pair_close(&a, &b);
    return argument;
}

static void threads_copy_at_the_same_time(void) {
    struct end end;
    pthread_t threads[THREADS];
    size_t numbers[THREADS];
    end_open(&end, &defaults);
    shared = there_open(&end);
    CHECK_EQ(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK_EQ(pthread_create(&threads[i], NULL, write_and_read, &numbers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    there_close(&shared);
    end_close(&end);
    expect_nothing_left();
}

static void a_forked_child_has_no_memory_of_the_processor(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct there there = there_open(&b);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct end own;
        CHECK_EQ(ibv_dereg_mr(there.mr), 0);
        end_open(&own, &defaults);
        expect_refused(own.pd, (void *) (uintptr_t) there.memory, SIZE, ACCESS, EFAULT);
        end_close(&own);
        _exit(0);
    }
    expect_exit(child, 0);
    struct address to = address_of(there.mr);
    fill(a.buffer, 64, 2);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 64, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(there.bytes, a.buffer, 64), 0);
    there_close(&there);
    pair_close(&a, &b);
    expect_nothing_left();
}

/* A driver that serves a forked child, which those of CUDA and HIP do not: it gets streams and pins of its own. */
static void a_forked_child_uses_nothing_of_its_parents(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct there there = there_open(&b);
    struct address to = address_of(there.mr);
    CHECK_EVENTUALLY(is_pinned_by(&a, IBV_WR_RDMA_WRITE, &to));
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        void *context;
        int created = CUDA->fake.counts().created;
        limit_life();
        CHECK_EQ(cu_init(0), 0);
        CHECK_EQ(cu_retain(&context, 0), 0);
        CHECK_EQ(cu_set_current(context), 0);
        pair_open(&a, &b, &defaults);
        there = there_open(&b);
        to = address_of(there.mr);
        CHECK_EVENTUALLY(is_pinned_by(&a, IBV_WR_RDMA_WRITE, &to));
        CHECK(CUDA->fake.counts().created > created);
        there_close(&there);
        pair_close(&a, &b);
        _exit(0);
    }
    expect_exit(child, 0);
    there_close(&there);
    pair_close(&a, &b);
    expect_nothing_left();
}

/* ---- two processes, whose processors copy directly ---- */

/* One of two processes that do the same steps, each with an end and memory. */
struct one {
    int socket;
    bool leads; /* posts the operations */
    struct end end;
    struct there there;
    struct address peer;
};

static const enum ibv_wr_opcode ways[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND };
#define WAYS (sizeof(ways) / sizeof(*ways))

/* Exchanges a number with the other process, which is as far then. */
static uint64_t swap(const struct one *one, uint64_t own) {
    uint64_t other;
    send_all(one->socket, &own, sizeof(own));
    receive_all(one->socket, &other, sizeof(other));
    return other;
}

static void one_open(struct one *one) {
    struct options options = defaults;
    options.separate_cqs = true;
    end_open(&one->end, &options);
    one->there = there_open(&one->end);
    end_to_init(&one->end);
    const struct address own = { one->end.qp->qp_num, one->there.mr->rkey, one->there.memory };
    send_all(one->socket, &own, sizeof(own));
    receive_all(one->socket, &one->peer, sizeof(one->peer));
    CHECK_EQ(end_to_rtr(&one->end, one->peer.qpn), 0);
    CHECK_EQ(end_to_rts(&one->end), 0);
    swap(one, 0);
}

static void one_close(struct one *one) {
    swap(one, 0);
    there_close(&one->there);
    end_close(&one->end);
    swap(one, 0);
    CHECK_EVENTUALLY(closer_is_done() && vendor->fake.counts().opened == 0);
    CHECK_EQ(vendor->fake.counts().freed_while_open, 0);
    expect_nothing_left();
}

static uint64_t sum(const struct there *there) {
    uint64_t hash = 0;
    for (size_t i = 0; i < SIZE / 2; i++) {
        hash = hash * 31 + (unsigned char) there->bytes[i];
    }
    return hash;
}

/* Does an operation of half of the memory. Returns its status, which both processes get. */
static enum ibv_wc_status act(struct one *one, size_t way) {
    struct ibv_sge sge = piece_of(one->there.mr, 0, SIZE / 2);
    CHECK_EQ(!one->leads && ways[way] == IBV_WR_SEND ? post_receive_list(&one->end, 2, &sge, 1) : 0, 0);
    swap(one, 0);
    uint64_t status = IBV_WC_SUCCESS;
    if (one->leads) {
        CHECK_EQ(post_list(&one->end, 1, ways[way], &sge, 1, &one->peer), 0);
        status = next_wc(one->end.send_cq).status;
    }
    uint64_t other = swap(one, status);
    status = one->leads ? status : other;
    if (!one->leads && ways[way] == IBV_WR_SEND && status == IBV_WC_SUCCESS) {
        expect_wc(one->end.recv_cq, 2, IBV_WC_SUCCESS);
    }
    return (enum ibv_wc_status) status;
}

/* Does an operation that succeeds. Returns, to both, whether it was a copy from processor to processor. */
static bool acts_directly(struct one *one, size_t way) {
    int before = vendor->fake.counts().between;
    bool has_source = one->leads == (ways[way] != IBV_WR_RDMA_READ);
    static uint32_t seed;
    if (has_source) {
        fill(one->there.bytes, SIZE / 2, ++seed);
    }
    CHECK_EQ(act(one, way), IBV_WC_SUCCESS);
    uint64_t own = sum(&one->there);
    CHECK_EQ(swap(one, own), own);
    uint64_t direct = (uint64_t) (vendor->fake.counts().between - before), other = swap(one, direct);
    return (has_source ? other : direct) > 0;
}

static void act_until_directly(struct one *one, size_t way) {
    int count = 0;
    while (!acts_directly(one, way)) {
        CHECK(count++ < 10000);
    }
}

static void copy_directly(struct one *one) {
    one_open(one);
    for (size_t way = 0; way < WAYS; way++) {
        act_until_directly(one, way);
        int copies = vendor->fake.counts().copies, between = vendor->fake.counts().between;
        CHECK(acts_directly(one, way));
        CHECK_EQ(vendor->fake.counts().copies - copies, vendor->fake.counts().between - between);
    }
    CHECK_EQ(vendor->fake.counts().opened, 1);
    one_close(one);
}

/* Memory that is freed under a loan is not lent any more; the other process has it open, and the driver has to cope. */
static void free_what_is_lent(struct one *one) {
    for (size_t way = 0; way < 2; way++) {
        one_open(one);
        act_until_directly(one, way);
        int before = vendor->fake.counts().freed_while_open;
        bool frees = one->leads == (ways[way] != IBV_WR_RDMA_READ);
        if (frees) {
            vendor->free(one->there.memory);
            CHECK_EQ(vendor->fake.counts().freed_while_open, before + 1);
        }
        CHECK_EQ(act(one, way), ways[way] == IBV_WR_RDMA_READ ? IBV_WC_REM_OP_ERR : IBV_WC_LOC_PROT_ERR);
        CHECK_EQ(ibv_dereg_mr(one->there.mr), 0);
        swap(one, 0);
        if (!frees) {
            vendor->free(one->there.memory);
        }
        end_close(&one->end);
        swap(one, 0);
    }
}

/* Has each call of either library fail, while there are loans, or while they are made. */
static void fail_at_each_call(struct one *one) {
    for (int kind = 0; kind < 4; kind++) {
        bool fails = one->leads == (kind % 2 == 0), more = true, any = false;
        for (int call = 1; more; call += kind < 2 ? 1 : 3) {
            one_open(one);
            for (size_t way = 0; kind < 2 && way < WAYS; way++) {
                act_until_directly(one, way);
            }
            vendor->fake.fail(fails ? call : 0, 999);
            enum ibv_wc_status status = IBV_WC_SUCCESS;
            for (size_t i = 0; i < (kind < 2 ? 1 : 4) * WAYS && status == IBV_WC_SUCCESS; i++) {
                status = act(one, i % WAYS);
                CHECK(status == IBV_WC_SUCCESS || status == IBV_WC_REM_OP_ERR || status == IBV_WC_LOC_PROT_ERR);
                uint64_t own = sum(&one->there), other = swap(one, own);
                CHECK(status != IBV_WC_SUCCESS || own == other);
            }
            bool failed = vendor->fake.calls() >= call;
            vendor->fake.fail(0, 0);
            uint64_t other = swap(one, failed);
            more = fails ? failed : other != 0;
            any |= failed;
            one_close(one);
        }
        CHECK(any || !fails);
    }
}

static void (*steps)(struct one *one);
static int steps_asked; /* bit 0: the leader asks for the direct way; bit 1: the other one */

static void live(int socket, bool leads) {
    struct one one = { .socket = socket, .leads = leads };
    void *library = fake_gpu_load(vendor->library, &vendor->fake);
    CHECK(library != NULL);
    limit_life();
    vendor->start(library);
    vendor->fake.refuse_pins(true); /* another thread would pin, whose calls are counted at any time */
    atomic_store(&lending_is_on, (steps_asked & (leads ? 1 : 2)) != 0);
    steps(&one);
}

static void lead(int socket) {
    live(socket, true);
}

/* Both are children, so that this process has no library yet. */
static void each_pair_of_processes(void (*body)(struct one *one), int asked) {
    steps = body;
    steps_asked = asked;
    for (vendor = vendors; vendor < vendors + VENDORS; vendor++) {
        int socket;
        pid_t leader = spawn(lead, &socket);
        fflush(stdout);
        pid_t other = fork_child();
        if (other == 0) {
            live(socket, false);
            fflush(stdout);
            _exit(0);
        }
        expect_exit(leader, 0);
        expect_exit(other, 0);
        close(socket);
    }
    vendor = CUDA;
}

static void processors_of_two_processes_copy_directly(void) {
    each_pair_of_processes(copy_directly, 3);
}

static void copy_by_host(struct one *one) {
    one_open(one);
    for (size_t i = 0; i < 10 * WAYS; i++) {
        CHECK(!acts_directly(one, i % WAYS));
    }
    CHECK_EQ(vendor->fake.counts().opened, 0);
    one_close(one);
}

static void both_processes_have_to_ask_for_it(void) {
    for (int asked = 0; asked < 3; asked++) {
        each_pair_of_processes(copy_by_host, asked);
    }
}

static void lent_memory_that_is_freed_fails_at_both_ends(void) {
    each_pair_of_processes(free_what_is_lent, 3);
}

static void a_failed_call_of_either_library_ends_one_connection_at_most(void) {
    each_pair_of_processes(fail_at_each_call, 3);
}

/* ---- */

static struct end ending[2];
static struct there left;

/* Runs after the client's handler, as that of the library does. */
static void write_at_the_end(void) {
    struct address to = address_of(left.mr);
    CUDA->fake.fail(0, 0);
    CHECK_EQ(post_rdma(&ending[0], 1, IBV_WR_RDMA_WRITE, 0, 0, 64, &to, 0), 0);
    expect_wc(ending[0].send_cq, 1, IBV_WC_REM_OP_ERR);
    CHECK_EQ(ibv_dereg_mr(left.mr), 0);
    CHECK_EQ(CUDA->fake.calls(), 0);
}

static void end_with_registered_memory(int socket) {
    (void) socket;
    void *library = fake_gpu_load(CUDA->library, &CUDA->fake);
    CHECK(library != NULL);
    vendor = CUDA;
    vendor->start(library);
    CHECK_EQ(atexit(write_at_the_end), 0);
    pair_open(&ending[0], &ending[1], &defaults);
    left = there_open(&ending[1]);
    exit(0);
}

/* A child has the library, so that this process has none yet. */
static void the_library_is_not_called_when_the_process_ends(void) {
    int socket;
    pid_t child = spawn(end_with_registered_memory, &socket);
    expect_exit(child, 0);
    close(socket);
}

int main(void) {
    arena_rest_ns = 20000000;
    RUN(the_library_is_not_called_when_the_process_ends);
    RUN(processors_of_two_processes_copy_directly);
    RUN(both_processes_have_to_ask_for_it);
    RUN(lent_memory_that_is_freed_fails_at_both_ends);
    RUN(a_failed_call_of_either_library_ends_one_connection_at_most);
    RUN(no_library_is_loaded_for_a_process);
    RUN(nothing_is_acquired_before_the_application_uses_the_library);
    start();
    RUN(memory_is_written_read_sent_and_received_into);
    RUN(a_list_has_memory_of_several_devices);
    RUN(the_engine_copies_in_the_context_of_the_memory);
    RUN(each_range_is_copied_in_its_own_context);
    RUN(mapped_memory_of_several_parts_is_one_range);
    RUN(copies_go_on_while_a_graph_is_captured);
    RUN(the_shared_memory_is_pinned);
    RUN(a_descriptor_is_registered_with_the_address_of_its_memory);
    RUN(more_than_the_allocation_is_refused);
    RUN(atomics_are_refused);
    RUN(a_library_that_fails_at_any_call_ends_one_connection);
    RUN(a_library_that_fails_for_ever_ends_no_process);
    RUN(memory_that_cannot_be_pinned_is_used_as_it_is);
    RUN(operations_on_freed_memory_fail_at_both_ends);
    RUN(memory_is_freed_in_the_middle_of_operations);
    RUN(threads_copy_at_the_same_time);
    RUN(a_forked_child_has_no_memory_of_the_processor);
    RUN(a_forked_child_uses_nothing_of_its_parents);
    return 0;
}
