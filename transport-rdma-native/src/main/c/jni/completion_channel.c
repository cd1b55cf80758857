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
    if (channel != NULL && to_api(api)->ext_take_events == NULL) {
        int error = set_nonblocking(channel->fd);
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

static jboolean is_edge_triggered(JNIEnv *env, jclass class, jlong api, jlong channel) {
    (void) env;
    (void) class;
    return to_api(api)->ext_takes_edges != NULL && to_api(api)->ext_takes_edges(to_pointer(channel));
}

/*
 * Takes events one by one, and adds the queues' marks. Acknowledging takes a lock, so the events of one queue in a row
 * are acknowledged together (ibv_get_cq_event(3)). Returns 0 or errno.
 */
static int take_events(const struct verbs_api *api, struct ibv_comp_channel *channel, int max, uint64_t *marks) {
    struct ibv_cq *last = NULL;
    struct ibv_cq *cq;
    void *mark;
    unsigned int unacknowledged = 0;
    int total = 0;
    errno = 0;
    while (total < max && api->ibv_get_cq_event(channel, &cq, &mark) == 0) {
        if (cq != last) {
            if (unacknowledged != 0) {
                api->ibv_ack_cq_events(last, unacknowledged);
            }
            last = cq;
            unacknowledged = 0;
        }
        *marks |= (uintptr_t) mark;
        unacknowledged++;
        total++;
    }
    int error = errno;
    if (unacknowledged != 0) {
        api->ibv_ack_cq_events(last, unacknowledged);
    }
    return total > 0 || error == EAGAIN || error == EINTR ? 0 : error != 0 ? error : EIO;
}

static jlong consume(JNIEnv *env, jclass class, jlong api, jlong channel, jint max) {
    (void) env;
    (void) class;
    uint64_t marks = 0;
    int error = to_api(api)->ext_take_events != NULL ? to_api(api)->ext_take_events(to_pointer(channel), &marks)
                                                     : take_events(to_api(api), to_pointer(channel), max, &marks);
    return error != 0 ? -error : (jlong) marks;
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("create0", "(JJ)J", create),
    JNI_METHOD("destroy0", "(JJ)I", destroy),
    JNI_METHOD("fd0", "(J)I", channel_fd),
    JNI_METHOD("isEdgeTriggered0", "(JJ)Z", is_edge_triggered),
    JNI_METHOD("consume0", "(JJI)J", consume),
};
JNI_CLASS(jni_completion_channel, "verbs/CompletionChannel", methods);
