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
 * Registers the natives when the library is loaded.
 *
 * Natives are registered instead of found by name, as in the rest of Netty, so that the classes can be relocated
 * ("shaded"). NativeLibraryLoader then loads lib<prefix>netty_transport_native_rdma_<arch>.so, where the prefix is the
 * relocated package with '_' for '.'. The package is found here from that name.
 */
#include "jni_util.h"

#include "embedded/embedded.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PACKAGE "io/netty/channel/rdma/"
#define LIBRARY "netty_transport_native_rdma"
#define MAX_NAME 512

static const struct jni_class *const classes[] = {
    &jni_native_version,       &jni_native_memory,        &jni_verbs,                &jni_provider_check,
    &jni_device,               &jni_protection_domain,    &jni_memory_region,        &jni_completion_channel,
    &jni_completion_queue,     &jni_queue_pair,           &jni_event_channel,        &jni_connection_id,
    &jni_shared_receive_queue, &jni_address_handle,       &jni_thread_usage,         &jni_region_file,
    &jni_page_memory,          &jni_memory_window,
};

int set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) {
        return errno;
    }
    if ((flags & O_NONBLOCK) == 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
        return errno;
    }
    return 0;
}

/*
 * Finds the path prefix of relocated classes, for example "com/example/" for
 * libcom_example_netty_transport_native_rdma_x86_64.so. NativeLibraryLoader writes "_1" in the file name for '_' in the
 * package.
 */
static bool package_prefix(char *prefix, size_t size) {
    Dl_info info;
    prefix[0] = '\0';
    if (dladdr((void *) (uintptr_t) &package_prefix, &info) == 0 || info.dli_fname == NULL) {
        return true;
    }
    const char *name = strrchr(info.dli_fname, '/');
    name = name != NULL ? name + 1 : info.dli_fname;
    const char *end = strstr(name, LIBRARY);
    if (strncmp(name, "lib", 3) != 0 || end == NULL) {
        return true;
    }
    size_t length = 0;
    for (const char *c = name + 3; c < end; c++) {
        if (length + 1 >= size) {
            return false;
        }
        if (*c != '_') {
            prefix[length++] = *c;
        } else if (c + 1 < end && c[1] == '1') {
            prefix[length++] = '_';
            c++;
        } else {
            prefix[length++] = '/';
        }
    }
    prefix[length] = '\0';
    return true;
}

static bool register_class(JNIEnv *env, const char *prefix, const struct jni_class *definition) {
    char name[2 * MAX_NAME];
    snprintf(name, sizeof(name), "%s" PACKAGE "%s", prefix, definition->name);
    jclass class = (*env)->FindClass(env, name);
    if (class == NULL) {
        return false;
    }
    bool done = (*env)->RegisterNatives(env, class, definition->methods, definition->method_count) == 0;
    (*env)->DeleteLocalRef(env, class);
    return done;
}

/* Called when the class loader is gone. */
JNIEXPORT void JNI_OnUnload(JavaVM *vm, void *reserved) {
    (void) vm;
    (void) reserved;
    embedded_unload();
}

JNIEXPORT jint JNI_OnLoad(JavaVM *vm, void *reserved) {
    (void) reserved;
    JNIEnv *env;
    char prefix[MAX_NAME];
    if ((*vm)->GetEnv(vm, (void **) &env, JNI_VERSION_1_8) != JNI_OK || !package_prefix(prefix, sizeof(prefix))) {
        return JNI_ERR;
    }
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        if (!register_class(env, prefix, classes[i])) {
            if (i == 0) {
                return JNI_ERR;
            }
            /* NativeVersion.java explains that the classes are of another build. */
            (*env)->ExceptionClear(env);
            native_version_failed(classes[i]);
            break;
        }
    }
    return JNI_VERSION_1_8;
}
