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
 * The software device (software_device.h) for tests in Java: a client in a library of its own, as a vendor's would be.
 * The transport's native library is loaded by the JVM, which keeps its symbols to itself, so its functions are looked
 * up by its path.
 */
#include <dlfcn.h>
#include <jni.h>
#include <link.h>
#include <string.h>

#include "software_device.h"

#define NATIVE(result, name) JNIEXPORT result JNICALL Java_io_netty_channel_rdma_SoftwareDevice_##name

static struct software_device device;
static int (*register_client)(const struct rdma_peer_memory_client *client);
static int (*unregister_client)(const struct rdma_peer_memory_client *client);
static void (*invalidate)(struct rdma_peer_memory *acquired);

void rdma_peer_memory_invalidate(struct rdma_peer_memory *acquired) {
    invalidate(acquired);
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
