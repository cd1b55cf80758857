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
 * The fake of CUDA's library (fake_gpu.h), and the software device (software_device.h), for tests in Java. The device
 * is a client in a library of its own, as a vendor's would be.
 * The transport's native library is loaded by the JVM, which keeps its symbols to itself, so its functions are looked
 * up by its path.
 */
#include <dlfcn.h>
#include <jni.h>
#include <link.h>
#include <string.h>

#include "fake_gpu.h"
#include "software_device.h"

#define NATIVE(result, name) JNIEXPORT result JNICALL Java_io_netty_channel_rdma_SoftwareDevice_##name

static struct software_device device;
static int (*register_client)(const struct rdma_peer_memory_client *client);
static int (*unregister_client)(const struct rdma_peer_memory_client *client);
static void (*invalidate)(struct rdma_peer_memory *acquired);

void rdma_peer_memory_invalidate(struct rdma_peer_memory *acquired) {
    invalidate(acquired);
}

/* The same client, in a library that the provider loads by its name: RDMA_EMBEDDED_PEER_MEMORY. */
JNIEXPORT int rdma_peer_memory_start(const struct rdma_peer_memory_functions *functions) {
    if (getenv("SOFTWARE_DEVICE_FAILS") != NULL) {
        return EPERM;
    }
    unregister_client = functions->unregister_client;
    invalidate = functions->invalidate;
    software_start(&device);
    return functions->register_client(&device.client);
}

static int open_transport(struct dl_phdr_info *info, size_t size, void *library) {
    (void) size;
    if (strstr(info->dlpi_name, "netty_transport_native_rdma") == NULL) {
        return 0;
    }
    *(void **) library = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
    return 1;
}

/* Registers the device. Returns 0, ENOENT if the transport's library is not loaded, or errno. */
NATIVE(jint, start0)(JNIEnv *env, jclass class) {
    (void) env;
    (void) class;
    void *library = NULL;
    dl_iterate_phdr(open_transport, &library);
    if (library == NULL) {
        return ENOENT;
    }
    register_client = (int (*)(const struct rdma_peer_memory_client *)) dlsym(library,
                                                                              "rdma_peer_memory_register_client");
    unregister_client = (int (*)(const struct rdma_peer_memory_client *)) dlsym(library,
                                                                                "rdma_peer_memory_unregister_client");
    invalidate = (void (*)(struct rdma_peer_memory *)) dlsym(library, "rdma_peer_memory_invalidate");
    if (register_client == NULL || unregister_client == NULL || invalidate == NULL) {
        return ENOSYS;
    }
    software_start(&device);
    return register_client(&device.client);
}

/* Returns the number of ranges that the provider has not released, or minus errno. */
NATIVE(jint, stop0)(JNIEnv *env, jclass class) {
    (void) env;
    (void) class;
    int error = unregister_client(&device.client);
    return error != 0 ? -error : atomic_load(&device.acquired);
}

NATIVE(jint, between0)(JNIEnv *env, jclass class) {
    (void) env;
    (void) class;
    return atomic_load(&device.between);
}

static struct software_memory *to_memory(jlong memory) {
    return (struct software_memory *) (uintptr_t) memory;
}

NATIVE(jlong, allocate0)(JNIEnv *env, jclass class, jint size) {
    (void) env;
    (void) class;
    return (jlong) (uintptr_t) software_allocate(&device, (size_t) size);
}

NATIVE(jlong, address0)(JNIEnv *env, jclass class, jlong memory) {
    (void) env;
    (void) class;
    return (jlong) (uintptr_t) to_memory(memory)->address;
}

NATIVE(jint, descriptor0)(JNIEnv *env, jclass class, jlong memory) {
    (void) env;
    (void) class;
    return to_memory(memory)->dmabuf[0];
}

NATIVE(jobject, bytes0)(JNIEnv *env, jclass class, jlong memory) {
    (void) class;
    return (*env)->NewDirectByteBuffer(env, to_memory(memory)->bytes, (jlong) to_memory(memory)->size);
}

NATIVE(void, free0)(JNIEnv *env, jclass class, jlong memory) {
    (void) env;
    (void) class;
    software_free(to_memory(memory));
}

/* ---- the fake of CUDA's library ---- */

#define FAKE(result, name) JNIEXPORT result JNICALL Java_io_netty_channel_rdma_FakeGpu_##name

static struct fake_gpu gpu;
static int (*cu_allocate)(uint64_t *memory, size_t size);
static int (*cu_free)(uint64_t memory);
static int (*cu_set_current)(void *context);
static void *context;

/* Loads the library, and makes the context of the first processor. */
FAKE(jboolean, load0)(JNIEnv *env, jclass class) {
    (void) env;
    (void) class;
    void *library = fake_gpu_load("libcuda.so.1", &gpu);
    int (*initialize)(unsigned flags), (*retain)(void **made, int device);
    return library != NULL && (*(void **) &initialize = dlsym(library, "cuInit")) != NULL
            && (*(void **) &retain = dlsym(library, "cuDevicePrimaryCtxRetain")) != NULL
            && (*(void **) &cu_set_current = dlsym(library, "cuCtxSetCurrent")) != NULL
            && (*(void **) &cu_allocate = dlsym(library, "cuMemAlloc_v2")) != NULL
            && (*(void **) &cu_free = dlsym(library, "cuMemFree_v2")) != NULL
            && initialize(0) == 0 && retain(&context, 0) == 0;
}

FAKE(jlong, allocate0)(JNIEnv *env, jclass class, jint size) {
    (void) env;
    (void) class;
    uint64_t memory = 0;
    return cu_set_current(context) == 0 && cu_allocate(&memory, (size_t) size) == 0 ? (jlong) memory : 0;
}

FAKE(jobject, bytes0)(JNIEnv *env, jclass class, jlong memory, jint size) {
    (void) class;
    return (*env)->NewDirectByteBuffer(env, gpu.bytes((uint64_t) memory), size);
}

FAKE(jint, copies0)(JNIEnv *env, jclass class) {
    (void) env;
    (void) class;
    return gpu.counts().copies;
}

FAKE(jint, exports0)(JNIEnv *env, jclass class) {
    (void) env;
    (void) class;
    return gpu.counts().exports;
}

FAKE(jint, free0)(JNIEnv *env, jclass class, jlong memory) {
    (void) env;
    (void) class;
    return cu_free((uint64_t) memory);
}
