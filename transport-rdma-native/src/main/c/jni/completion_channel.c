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
/* Natives of CompletionChannel. */
#include "jni_util.h"

static jlong create(JNIEnv *env, jclass class, jlong api, jlong context) {
    (void) env;
    (void) class;
    errno = 0;
    struct ibv_comp_channel *channel = to_api(api)->ibv_create_comp_channel(to_pointer(context));
    if (channel != NULL) {
        int error = to_api(api)->ext_set_nonblocking != NULL ? to_api(api)->ext_set_nonblocking(channel)
                                                             : set_nonblocking(channel->fd);
        if (error != 0) {
            to_api(api)->ibv_destroy_comp_channel(channel);
            return -error;
        }
    }
    return created(channel);
}

static jint destroy(JNIEnv *env, jclass class, jlong api, jlong channel) {
    (void) env;
    (void) class;
    return to_errno(to_api(api)->ibv_destroy_comp_channel(to_pointer(channel)));
}

static jint channel_fd(JNIEnv *env, jclass class, jlong channel) {
    (void) env;
    (void) class;
    return ((struct ibv_comp_channel *) to_pointer(channel))->fd;
}

/* Acknowledging takes a lock, so the events of one queue in a row are acknowledged together (ibv_get_cq_event(3)). */
static jint consume(JNIEnv *env, jclass class, jlong api, jlong channel, jint max) {
    (void) env;
    (void) class;
    struct ibv_cq *last = NULL;
    struct ibv_cq *cq;
    void *context;
    unsigned int unacknowledged = 0;
    jint total = 0;
    errno = 0;
    while (total < max && to_api(api)->ibv_get_cq_event(to_pointer(channel), &cq, &context) == 0) {
        if (cq != last) {
            if (unacknowledged != 0) {
                to_api(api)->ibv_ack_cq_events(last, unacknowledged);
            }
            last = cq;
            unacknowledged = 0;
        }
        unacknowledged++;
        total++;
    }
    int error = errno;
    if (unacknowledged != 0) {
        to_api(api)->ibv_ack_cq_events(last, unacknowledged);
    }
    return total > 0 || error == EAGAIN || error == EINTR ? total : -(error != 0 ? error : EIO);
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("create0", "(JJ)J", create),
    JNI_METHOD("destroy0", "(JJ)I", destroy),
    JNI_METHOD("fd0", "(J)I", channel_fd),
    JNI_METHOD("consume0", "(JJI)I", consume),
};
JNI_CLASS(jni_completion_channel, "verbs/CompletionChannel", methods);
