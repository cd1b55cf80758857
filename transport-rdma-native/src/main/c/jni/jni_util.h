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
 * Common part of the JNI files: the tables of native methods, and the conventions of results.
 *
 * Results: a native returns 0 or a positive errno. A native with a value returns the value or a negative errno. C
 * throws nothing except what JNI itself throws (OutOfMemoryError). Java makes the exceptions, because it knows the
 * names and sizes for the message.
 */
#ifndef NETTY_RDMA_JNI_UTIL_H
#define NETTY_RDMA_JNI_UTIL_H

#include <errno.h>
#include <jni.h>
#include <stdint.h>

#include "verbs_api.h"

/* JNI passes its environment and the class to each native method, and few need them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Natives of one Java class. `name` is relative to the package io.netty.channel.rdma: "verbs/Device". */
struct jni_class {
    const char *name;
    const JNINativeMethod *methods;
    jint method_count;
};

#define JNI_CLASS(variable, java_name, table)                                                                         \
    const struct jni_class variable = { java_name, table, sizeof(table) / sizeof(*(table)) }

#define JNI_METHOD(java_name, signature, function) { (char *) (java_name), (char *) (signature), (void *) (function) }

extern const struct jni_class jni_address_handle;
extern const struct jni_class jni_completion_channel;
extern const struct jni_class jni_completion_queue;
extern const struct jni_class jni_connection_id;
extern const struct jni_class jni_device;
extern const struct jni_class jni_event_channel;
extern const struct jni_class jni_memory_region;
extern const struct jni_class jni_memory_window;
extern const struct jni_class jni_native_memory;
extern const struct jni_class jni_native_version;
extern const struct jni_class jni_page_memory;
extern const struct jni_class jni_protection_domain;
extern const struct jni_class jni_provider_check;
extern const struct jni_class jni_queue_pair;
extern const struct jni_class jni_region_file;
extern const struct jni_class jni_shared_receive_queue;
extern const struct jni_class jni_thread_usage;
extern const struct jni_class jni_verbs;

/* Notes that the natives of a class could not be registered: the classes are of another build. */
void native_version_failed(const struct jni_class *definition);

static inline void *to_pointer(jlong address) {
    return (void *) (uintptr_t) address;
}

static inline jlong to_long(const void *pointer) {
    return (jlong) (uintptr_t) pointer;
}

/* Converts the first argument of a native that calls verbs: the function table of the objects among its arguments. */
static inline const struct verbs_api *to_api(jlong api) {
    return to_pointer(api);
}

/* Returns the result of a call that makes an object: its address, or a negative errno. */
static inline jlong created(const void *object) {
    return object != NULL ? to_long(object) : -(jlong) (errno != 0 ? errno : EIO);
}

/*
 * Returns the positive errno of a failed call. The functions of rdma_cma.h and some of verbs.h return -1 and set errno.
 * The rest of verbs.h returns the errno, and some providers a negated one.
 */
static inline int to_errno(int result) {
    if (result == -1) {
        return errno != 0 ? errno : EIO;
    }
    return result < 0 ? -result : result;
}

/* Makes a descriptor non-blocking. Returns 0 or an errno. */
int set_nonblocking(int fd);

#endif
