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
/* Natives of MemoryRegion. */
#include "jni_util.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <unistd.h>

static jlong register_region(JNIEnv *env, jclass class, jlong api, jlong pd, jlong address, jlong length, jint access) {
    errno = 0;
    return created(to_api(api)->ibv_reg_mr(to_pointer(pd), to_pointer(address), (size_t) length, access));
}

static jlong register_dmabuf(JNIEnv *env, jclass class, jlong api, jlong pd, jlong offset, jlong length, jlong iova,
                             jint fd, jint access) {
    if (to_api(api)->ibv_reg_dmabuf_mr == NULL) {
        return -EOPNOTSUPP;
    }
    errno = 0;
    return created(to_api(api)->ibv_reg_dmabuf_mr(to_pointer(pd), (uint64_t) offset, (size_t) length, (uint64_t) iova,
                                                  fd, access));
}

/* Functions and constants of CUDA: CUDA Driver API Reference, "Memory Management" and "Unified Addressing". */
struct cuda {
    int (*attribute)(void *value, int attribute, uint64_t address);
    int (*set_attribute)(const void *value, int attribute, uint64_t address);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*export_range)(void *handle, uint64_t address, size_t size, int type, unsigned long long flags);
};
#define POINTER_CONTEXT 1
#define POINTER_SYNC_MEMOPS 6
#define RANGE_DMA_BUF_FD 1

/* Finds functions of the loaded library. Returns false if the application has loaded none. The last may be missing. */
static bool find_cuda(void *library, struct cuda *cuda) {
    return library != NULL && (*(void **) &cuda->attribute = dlsym(library, "cuPointerGetAttribute")) != NULL
            && (*(void **) &cuda->set_attribute = dlsym(library, "cuPointerSetAttribute")) != NULL
            && (*(void **) &cuda->push = dlsym(library, "cuCtxPushCurrent_v2")) != NULL
            && (*(void **) &cuda->pop = dlsym(library, "cuCtxPopCurrent_v2")) != NULL
            && ((*(void **) &cuda->export_range = dlsym(library, "cuMemGetHandleForAddressRange")) != NULL || true);
}

/* Exports the pages around a range as a dma-buf. Returns -1 if the driver does not. */
static int export_range(const struct cuda *cuda, uint64_t address, uint64_t length, uint64_t *offset) {
    uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE), start = address & ~(page - 1);
    uint64_t end = (address + length + page - 1) & ~(page - 1);
    void *context = NULL;
    int fd = -1;
    bool entered = cuda->attribute(&context, POINTER_CONTEXT, address) == 0 && context != NULL
            && cuda->push(context) == 0;
    if (cuda->export_range == NULL || cuda->export_range(&fd, start, end - start, RANGE_DMA_BUF_FD, 0) != 0) {
        fd = -1;
    }
    if (entered) {
        cuda->pop(&context);
    }
    *offset = address - start;
    return fd;
}

/*
 * Registers memory of a graphics processor: as a dma-buf, if that is wanted and possible, else by its address. A driver
 * without the attribute for synchronous copies of the application is no error.
 */
static jlong register_cuda(JNIEnv *env, jclass class, jlong api, jlong pd, jlong address, jlong length, jint access,
                           jboolean dmabuf) {
    struct cuda cuda;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!find_cuda(library, &cuda)) {
        return -ENODEV;
    }
    const unsigned yes = 1;
    cuda.set_attribute(&yes, POINTER_SYNC_MEMOPS, (uint64_t) address);
    uint64_t offset;
    int fd = dmabuf ? export_range(&cuda, (uint64_t) address, (uint64_t) length, &offset) : -1;
    jlong region = -EOPNOTSUPP;
    if (fd >= 0) {
        region = register_dmabuf(env, class, api, pd, (jlong) offset, length, address, fd, access);
        close(fd);
    }
    if (region < 0) {
        region = register_region(env, class, api, pd, address, length, access);
    }
    dlclose(library);
    return region;
}

static jint deregister_region(JNIEnv *env, jclass class, jlong api, jlong mr) {
    return to_errno(to_api(api)->ibv_dereg_mr(to_pointer(mr)));
}

static jlong keys(JNIEnv *env, jclass class, jlong mr) {
    const struct ibv_mr *region = to_pointer(mr);
    return (jlong) ((uint64_t) region->lkey << 32 | region->rkey);
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("register0", "(JJJJI)J", register_region),
    JNI_METHOD("registerDmabuf0", "(JJJJJII)J", register_dmabuf),
    JNI_METHOD("registerCuda0", "(JJJJIZ)J", register_cuda),
    JNI_METHOD("deregister0", "(JJ)I", deregister_region),
    JNI_METHOD("keys0", "(J)J", keys),
};
JNI_CLASS(jni_memory_region, "verbs/MemoryRegion", methods);
