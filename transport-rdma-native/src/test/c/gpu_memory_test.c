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
 * Memory of a graphics processor, by its address and as a dma-buf (docs/peer-memory.md). The vendor's library is looked
 * up at run time. Without one, or without a processor, a fake one is used (fake_gpu.h); the output says so.
 * Also from the memory of one process to that of another, directly where RDMA_EMBEDDED_PEER_MEMORY_DIRECT=1 is set and
 * the vendor's driver can. RDMA_FIGURES=1 prints how long operations take, beside copies by the library.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "fake_gpu.h"
#include "pair.h"
#include "provider.h"

#define SIZE PAIR_BUFFER /* NVIDIA's drivers export ranges of 64 KiB pages, AMD's of whole allocations */
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

struct gpu {
    const char *name, *library;
    bool (*start)(void);         /* whether there is a processor */
    uintptr_t (*allocate)(void); /* SIZE bytes */
    void (*write)(uintptr_t to, const void *from, size_t length);
    void (*read)(void *to, uintptr_t from, size_t length);
    int (*export)(uintptr_t memory, uint64_t *offset); /* a dma-buf, or -1 where the driver makes none */
    void (*release)(uintptr_t memory);
    bool (*copy)(uintptr_t to, uintptr_t from, size_t length); /* between ranges of the processor */
    bool (*pin)(void *memory, size_t size, bool pinned);       /* memory of the host, or not any more */
};

static void *library;

/* Data and function pointers are of one size wherever dlsym(3) exists. */
#define LOOK_UP(pointer, name) (*(void **) &(pointer) = dlsym(library, name))

/* ---- NVIDIA: the driver API of CUDA 11.7 and later ---- */

static int (*cu_init)(unsigned), (*cu_context)(void **, int), (*cu_current)(void *), (*cu_alloc)(uintptr_t *, size_t),
        (*cu_free)(uintptr_t), (*cu_to)(uintptr_t, const void *, size_t), (*cu_from)(void *, uintptr_t, size_t),
        (*cu_export)(void *, uintptr_t, size_t, int, unsigned long long),
        (*cu_synchronous)(const void *, int, uintptr_t), (*cu_between)(uintptr_t, uintptr_t, size_t),
        (*cu_register)(void *, size_t, unsigned), (*cu_unregister)(void *), (*cu_wait)(void);

#define CU_POINTER_ATTRIBUTE_SYNC_MEMOPS 6
#define CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD 1

static bool cuda_start(void) {
    void *context;
    if (LOOK_UP(cu_init, "cuInit") == NULL || cu_init(0) != 0) {
        return false;
    }
    CHECK(LOOK_UP(cu_context, "cuDevicePrimaryCtxRetain") != NULL && LOOK_UP(cu_current, "cuCtxSetCurrent") != NULL);
    CHECK(LOOK_UP(cu_alloc, "cuMemAlloc_v2") != NULL);
    CHECK(LOOK_UP(cu_free, "cuMemFree_v2") != NULL && LOOK_UP(cu_to, "cuMemcpyHtoD_v2") != NULL);
    CHECK(LOOK_UP(cu_from, "cuMemcpyDtoH_v2") != NULL && LOOK_UP(cu_synchronous, "cuPointerSetAttribute") != NULL);
    LOOK_UP(cu_export, "cuMemGetHandleForAddressRange");
    LOOK_UP(cu_between, "cuMemcpyDtoD_v2");
    LOOK_UP(cu_wait, "cuCtxSynchronize");
    LOOK_UP(cu_register, "cuMemHostRegister_v2");
    LOOK_UP(cu_unregister, "cuMemHostUnregister");
    CHECK_EQ(cu_context(&context, 0), 0);
    CHECK_EQ(cu_current(context), 0);
    return true;
}

static uintptr_t cuda_allocate(void) {
    uintptr_t memory;
    CHECK_EQ(cu_alloc(&memory, SIZE), 0);
    unsigned yes = 1; /* copies are done when they return, as an adapter does not wait for them */
    CHECK_EQ(cu_synchronous(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory), 0);
    return memory;
}

static void cuda_write(uintptr_t to, const void *from, size_t length) {
    CHECK_EQ(cu_to(to, from, length), 0);
}

static void cuda_read(void *to, uintptr_t from, size_t length) {
    CHECK_EQ(cu_from(to, from, length), 0);
}

static int cuda_export(uintptr_t memory, uint64_t *offset) {
    int fd;
    *offset = 0;
    return cu_export != NULL && cu_export(&fd, memory, SIZE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0) == 0 ? fd : -1;
}

static void cuda_release(uintptr_t memory) {
    CHECK_EQ(cu_free(memory), 0);
}

/* A copy within a processor may return before it is done. */
static bool cuda_copy(uintptr_t to, uintptr_t from, size_t length) {
    return cu_between != NULL && cu_wait != NULL && cu_between(to, from, length) == 0 && cu_wait() == 0;
}

static bool cuda_pin(void *memory, size_t size, bool pinned) {
    return pinned ? cu_register(memory, size, 0) == 0 : cu_unregister(memory) == 0;
}

/* ---- AMD: HIP, which loads the HSA runtime ---- */

static int (*hip_count)(int *), (*hip_malloc)(void **, size_t), (*hip_free)(void *),
        (*hip_copy)(void *, const void *, size_t, int), (*hsa_export)(const void *, size_t, int *, uint64_t *),
        (*hip_register)(void *, size_t, unsigned), (*hip_unregister)(void *), (*hip_wait)(void);

#define HIP_MEMCPY_HOST_TO_DEVICE 1
#define HIP_MEMCPY_DEVICE_TO_HOST 2
#define HIP_MEMCPY_DEVICE_TO_DEVICE 3

static bool hip_start(void) {
    int count = 0;
    if (LOOK_UP(hip_count, "hipGetDeviceCount") == NULL || hip_count(&count) != 0 || count == 0) {
        return false;
    }
    CHECK(LOOK_UP(hip_malloc, "hipMalloc") != NULL && LOOK_UP(hip_free, "hipFree") != NULL);
    CHECK(LOOK_UP(hip_copy, "hipMemcpy") != NULL);
    LOOK_UP(hsa_export, "hsa_amd_portable_export_dmabuf");
    LOOK_UP(hip_wait, "hipDeviceSynchronize");
    LOOK_UP(hip_register, "hipHostRegister");
    LOOK_UP(hip_unregister, "hipHostUnregister");
    return true;
}

static uintptr_t hip_allocate(void) {
    void *memory;
    CHECK_EQ(hip_malloc(&memory, SIZE), 0);
    return (uintptr_t) memory;
}

static void hip_write(uintptr_t to, const void *from, size_t length) {
    CHECK_EQ(hip_copy((void *) to, from, length, HIP_MEMCPY_HOST_TO_DEVICE), 0);
}

static void hip_read(void *to, uintptr_t from, size_t length) {
    CHECK_EQ(hip_copy(to, (void *) from, length, HIP_MEMCPY_DEVICE_TO_HOST), 0);
}

static int hip_export(uintptr_t memory, uint64_t *offset) {
    int fd;
    return hsa_export != NULL && hsa_export((void *) memory, SIZE, &fd, offset) == 0 ? fd : -1;
}

static void hip_release(uintptr_t memory) {
    CHECK_EQ(hip_free((void *) memory), 0);
}

static bool hip_copy_between(uintptr_t to, uintptr_t from, size_t length) {
    return hip_wait != NULL && hip_copy((void *) to, (void *) from, length, HIP_MEMCPY_DEVICE_TO_DEVICE) == 0
            && hip_wait() == 0;
}

static bool hip_pin(void *memory, size_t size, bool pinned) {
    return pinned ? hip_register(memory, size, 0) == 0 : hip_unregister(memory) == 0;
}

static const struct gpu gpus[] = {
    { "NVIDIA", "libcuda.so.1", cuda_start, cuda_allocate, cuda_write, cuda_read, cuda_export, cuda_release, cuda_copy,
      cuda_pin },
    { "AMD", "libamdhip64.so.6", hip_start, hip_allocate, hip_write, hip_read, hip_export, hip_release,
      hip_copy_between, hip_pin },
};
#define GPUS (sizeof(gpus) / sizeof(*gpus))

/* ---- */

/* A WRITE into the memory and a READ from it, each looked at by the processor's own copies. */
static void use(const struct gpu *gpu, uintptr_t memory, struct end *a, const struct ibv_mr *mr, uint64_t address) {
    struct address to = { .buffer = address, .rkey = mr->rkey };
    char *seen = malloc(SIZE);
    CHECK(seen != NULL);
    for (unsigned i = 0; i < SIZE; i++) {
        a->buffer[i] = (char) (i * 7 + i / 251);
    }
    CHECK_EQ(post_rdma(a, 1, IBV_WR_RDMA_WRITE, 0, 0, SIZE, &to, 0), 0);
    expect_wc(a->send_cq, 1, IBV_WC_SUCCESS);
    gpu->read(seen, memory, SIZE);
    CHECK_EQ(memcmp(seen, a->buffer, SIZE), 0);
    memset(seen, 0x5c, SIZE);
    gpu->write(memory, seen, SIZE);
    CHECK_EQ(post_rdma(a, 2, IBV_WR_RDMA_READ, 0, 0, SIZE, &to, 0), 0);
    expect_wc(a->send_cq, 2, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(seen, a->buffer, SIZE), 0);
    free(seen);
}

/* Registers memory by address. The drivers decide whether the kernel can; if not, registration fails as it should. */
static void by_address(const struct gpu *gpu, uintptr_t memory) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    errno = 0;
    struct ibv_mr *mr = ibv_reg_mr(b.pd, (void *) memory, SIZE, ACCESS);
    if (mr != NULL) {
        use(gpu, memory, &a, mr, memory);
        CHECK_EQ(ibv_dereg_mr(mr), 0);
    } else {
        CHECK_EQ(errno, EFAULT);
        CHECK(!is_embedded());
        fprintf(stderr, "    skipped: the drivers register no addresses of %s memory\n", gpu->name);
    }
    pair_close(&a, &b);
}

static void by_dmabuf(const struct gpu *gpu, uintptr_t memory) {
    uint64_t offset;
    int fd = gpu->export(memory, &offset);
    if (fd < 0) {
        fprintf(stderr, "    skipped: the driver makes no dma-bufs of %s memory\n", gpu->name);
        return;
    }
    struct end a, b;
    pair_open(&a, &b, &defaults);
    errno = 0;
    struct ibv_mr *mr = ibv_reg_dmabuf_mr(b.pd, offset, SIZE, memory, fd, ACCESS);
    CHECK_EQ(close(fd), 0);
    if (mr != NULL) {
        use(gpu, memory, &a, mr, memory);
        CHECK_EQ(ibv_dereg_mr(mr), 0);
    } else {
        CHECK(!is_embedded());
        CHECK(errno == EOPNOTSUPP || errno == EINVAL);
        fprintf(stderr, "    skipped: the device registers no dma-bufs of %s memory\n", gpu->name);
    }
    pair_close(&a, &b);
}

/* Prints the median time of a step in microseconds, and what that is for its bytes. */
static void print_time(const char *what, uint32_t length, uint64_t *times, unsigned count) {
    for (unsigned i = 1; i < count; i++) {
        for (unsigned at = i; at > 0 && times[at - 1] > times[at]; at--) {
            uint64_t exchanged = times[at];
            times[at] = times[at - 1];
            times[at - 1] = exchanged;
        }
    }
    double us = (double) times[count / 2] / 1000;
    printf("    %-26s %8u bytes %9.1f us %7.2f GB/s\n", what, length, us, length / us / 1000);
}

#define STEPS 101

static const uint32_t lengths[] = { 64, 4096, 65536, 1u << 20, SIZE };
#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

/* Times operations and the library's own copies of this process's memory, pinned and as it is. */
static void figures(const struct gpu *gpu, uintptr_t memory) {
    static const char *const names[] = {
        "copy in", "copy out", "copy in, pinned", "copy out, pinned", "RDMA WRITE", "RDMA READ", "WRITE, host memory",
    };
    enum { PINNED = 2, OPERATIONS = 4, TO_HOST = 6 };
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct ibv_mr *mr = ibv_reg_mr(b.pd, (void *) memory, SIZE, ACCESS);
    const struct address host = end_address(&b);
    struct address there = { .buffer = memory, .rkey = mr == NULL ? 0 : mr->rkey };
    for (unsigned step = 0; mr != NULL && step < sizeof(names) / sizeof(*names); step++) {
        bool pins = step >= PINNED && step < OPERATIONS;
        CHECK(!pins || gpu->pin(a.buffer, SIZE, true));
        for (unsigned i = 0; i < LENGTHS; i++) {
            uint64_t times[STEPS];
            for (unsigned n = 0; n < STEPS; n++) {
                uint64_t begin = now_ns();
                if (step < OPERATIONS) {
                    step % 2 == 0 ? gpu->write(memory, a.buffer, lengths[i]) : gpu->read(a.buffer, memory, lengths[i]);
                } else {
                    enum ibv_wr_opcode opcode = step == OPERATIONS + 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
                    CHECK_EQ(post_rdma(&a, n, opcode, 0, 0, lengths[i], step == TO_HOST ? &host : &there, 0), 0);
                    expect_wc(a.send_cq, n, IBV_WC_SUCCESS);
                }
                times[n] = now_ns() - begin;
            }
            print_time(names[step], lengths[i], times, STEPS);
        }
        CHECK(!pins || gpu->pin(a.buffer, SIZE, false));
    }
    CHECK_EQ(mr == NULL ? 0 : ibv_dereg_mr(mr), 0);
    pair_close(&a, &b);
}

/* Processors that the tests use, and whether a fake stands in for them. */
static bool started[GPUS], is_fake;

/* Starts the vendors' libraries; if there is no processor at all, their fakes. */
static void start(void) {
    bool any = false;
    for (size_t i = 0; i < GPUS; i++) {
        library = dlopen(gpus[i].library, RTLD_NOW | RTLD_GLOBAL);
        started[i] = library != NULL && gpus[i].start();
        any |= started[i];
    }
    for (size_t i = 0; !any && i < GPUS; i++) {
        library = fake_gpu_load(gpus[i].library, NULL);
        started[i] = library != NULL && gpus[i].start();
        is_fake = true;
    }
    for (size_t i = 0; i < GPUS; i++) {
        fprintf(stderr, "  %s: %s\n", gpus[i].name, !started[i] ? "none" : is_fake ? "a fake" : "a processor");
    }
}

/* ---- two processes ---- */

static int partner; /* socket to the other process, which does the same steps */

/* Connects an end with that of the other process. Returns false if this device registers no such memory. */
static bool meet(struct end *end, uintptr_t memory, struct ibv_mr **mr, struct address *peer) {
    struct address own = { 0, 0, memory };
    end_open(end, &defaults);
    *mr = ibv_reg_mr(end->pd, (void *) memory, SIZE, ACCESS);
    own.qpn = end->qp->qp_num;
    own.rkey = *mr == NULL ? 0 : (*mr)->rkey;
    send_all(partner, &own, sizeof(own));
    receive_all(partner, peer, sizeof(*peer));
    end_connect(end, peer->qpn);
    send_all(partner, "r", 1);
    receive_all(partner, &own, 1);
    return *mr != NULL && peer->rkey != 0;
}

static void part(struct end *end, struct ibv_mr *mr) {
    char other;
    send_all(partner, "p", 1);
    receive_all(partner, &other, 1);
    CHECK_EQ(mr == NULL ? 0 : ibv_dereg_mr(mr), 0);
    end_close(end);
}

static void serve(const struct gpu *gpu, uintptr_t memory) {
    struct end end;
    struct ibv_mr *mr;
    struct address peer;
    (void) gpu;
    meet(&end, memory, &mr, &peer);
    part(&end, mr);
}

static void transfer(struct end *end, enum ibv_wr_opcode opcode, const struct ibv_mr *mr, uint32_t length,
                     const struct address *peer) {
    struct ibv_sge sge = { (uintptr_t) mr->addr, length, mr->lkey };
    struct ibv_send_wr wr = {
        .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = { peer->buffer, peer->rkey },
    }, *bad;
    CHECK_EQ(ibv_post_send(end->qp, &wr, &bad), 0);
    expect_wc(end->send_cq, 1, IBV_WC_SUCCESS);
}

#define TURNS 20 /* the first ones go by host memory in any case */

static void between_processes(const struct gpu *gpu, uintptr_t memory) {
    struct end end;
    struct ibv_mr *mr;
    struct address peer;
    bool registered = meet(&end, memory, &mr, &peer);
    if (!registered) {
        CHECK(!is_embedded());
        fprintf(stderr, "    skipped: the device registers no %s memory\n", gpu->name);
    }
    char *own = malloc(SIZE), *seen = malloc(SIZE);
    CHECK(own != NULL && seen != NULL);
    for (unsigned turn = 0; registered && turn < TURNS; turn++) {
        for (unsigned i = 0; i < SIZE; i++) {
            own[i] = (char) (i * 7 + i / 251 + turn);
        }
        gpu->write(memory, own, SIZE);
        transfer(&end, IBV_WR_RDMA_WRITE, mr, SIZE, &peer);
        memset(seen, 0, SIZE);
        gpu->write(memory, seen, SIZE);
        transfer(&end, IBV_WR_RDMA_READ, mr, SIZE, &peer);
        gpu->read(seen, memory, SIZE);
        CHECK_EQ(memcmp(own, seen, SIZE), 0);
    }
    for (unsigned step = 0; registered && step < 3 && env_number("RDMA_FIGURES", 0) != 0; step++) {
        static const char *const names[] = { "copy within", "WRITE between processors", "READ between processors" };
        for (unsigned i = 0; i < LENGTHS; i++) {
            uint64_t times[STEPS];
            uint32_t length = step == 0 ? lengths[i] / 2 : lengths[i]; /* both ranges are in the memory */
            bool copied = true;
            for (unsigned n = 0; n < STEPS && copied; n++) {
                uint64_t begin = now_ns();
                if (step == 0) {
                    copied = gpu->copy(memory + SIZE / 2, memory, length);
                } else {
                    transfer(&end, step == 1 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, mr, length, &peer);
                }
                times[n] = now_ns() - begin;
            }
            if (copied) {
                print_time(names[step], length, times, STEPS);
            }
        }
    }
    free(own);
    free(seen);
    part(&end, mr);
}

static void each(void (*test)(const struct gpu *gpu, uintptr_t memory)) {
    bool any = false;
    for (size_t i = 0; i < GPUS; i++) {
        if (started[i]) {
            uintptr_t memory = gpus[i].allocate();
            test(&gpus[i], memory);
            gpus[i].release(memory);
            any = true;
        }
    }
    if (!any) {
        CHECK(!is_embedded());
        fprintf(stderr, "    skipped: there is no graphics processor, and no fake of one\n");
    }
}

static void memory_of_a_graphics_processor_is_registered_by_its_address(void) {
    each(by_address);
}

static void memory_of_a_graphics_processor_is_registered_as_a_dma_buf(void) {
    each(by_dmabuf);
}

static void memory_goes_from_one_process_to_another(void) {
    each(between_processes);
}

/* The other process has the library for itself, as no child of a process has that has used it. */
static void live(int socket) {
    char begin;
    limit_life();
    partner = socket;
    if (recv(socket, &begin, 1, 0) == 1) {
        start();
        each(serve);
    }
}

static void operations_are_timed(void) {
    if (env_number("RDMA_FIGURES", 0) != 0) {
        each(figures);
    }
}

int main(void) {
    pid_t other = spawn(live, &partner);
    start();
    RUN(memory_of_a_graphics_processor_is_registered_by_its_address);
    RUN(memory_of_a_graphics_processor_is_registered_as_a_dma_buf);
    send_all(partner, "b", 1);
    RUN(memory_goes_from_one_process_to_another);
    close(partner);
    expect_exit(other, 0);
    RUN(operations_are_timed);
    return 0;
}
