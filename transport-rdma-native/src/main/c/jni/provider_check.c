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
/* Natives of ProviderCheck: whether the kernel side of the provider can be used. */
#include "jni_util.h"

#include <stdbool.h>

static jint device_count(JNIEnv *env, jclass class, jlong api) {
    int count = 0;
    errno = 0;
    struct ibv_device **list = to_api(api)->ibv_get_device_list(&count);
    if (list == NULL) {
        return -(errno != 0 ? errno : EIO);
    }
    to_api(api)->ibv_free_device_list(list);
    return count;
}

static jint probe_device(JNIEnv *env, jclass class, jlong api, jint index) {
    int count = 0;
    int error = ENODEV;
    struct ibv_device **list = to_api(api)->ibv_get_device_list(&count);
    if (list != NULL && index < count) {
        errno = 0;
        struct ibv_context *context = to_api(api)->ibv_open_device(list[index]);
        error = context != NULL ? 0 : errno != 0 ? errno : EIO;
        if (context != NULL) {
            to_api(api)->ibv_close_device(context);
        }
    }
    if (list != NULL) {
        to_api(api)->ibv_free_device_list(list);
    }
    return error;
}

static jstring device_name(JNIEnv *env, jclass class, jlong api, jint index) {
    int count = 0;
    struct ibv_device **list = to_api(api)->ibv_get_device_list(&count);
    bool found = list != NULL && index < count;
    jstring name = (*env)->NewStringUTF(env, found ? to_api(api)->ibv_get_device_name(list[index]) : "");
    if (list != NULL) {
        to_api(api)->ibv_free_device_list(list);
    }
    return name;
}

static jint probe_connection_manager(JNIEnv *env, jclass class, jlong api) {
    errno = 0;
    struct rdma_event_channel *channel = to_api(api)->rdma_create_event_channel();
    if (channel == NULL) {
        return errno != 0 ? errno : EIO;
    }
    to_api(api)->rdma_destroy_event_channel(channel);
    return 0;
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("deviceCount0", "(J)I", device_count),
    JNI_METHOD("probeDevice0", "(JI)I", probe_device),
    JNI_METHOD("deviceName0", "(JI)Ljava/lang/String;", device_name),
    JNI_METHOD("probeConnectionManager0", "(J)I", probe_connection_manager),
};
JNI_CLASS(jni_provider_check, "verbs/ProviderCheck", methods);
