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
/* Natives of EventChannel: events of the connection manager, copied out and acknowledged at once. */
#include "address_vector.h"

#include <stdbool.h>
#include <string.h>

/* Indexes of the long[] of EventChannel. */
enum {
    EVENT_TYPE,
    EVENT_STATUS,
    EVENT_TOKEN,
    EVENT_NEW_ID,
    EVENT_RESPONDER_RESOURCES,
    EVENT_INITIATOR_DEPTH,
    EVENT_RNR_RETRY_COUNT,
    EVENT_QUEUE_PAIR_NUMBER,
    EVENT_PRIVATE_DATA_LENGTH,
    EVENT_QUEUE_KEY,
    EVENT_MULTICAST_TOKEN,
    EVENT_COUNT
};

static jlong create(JNIEnv *env, jclass class, jlong api) {
    errno = 0;
    struct rdma_event_channel *channel = to_api(api)->rdma_create_event_channel();
    if (channel != NULL) {
        int error = set_nonblocking(channel->fd);
        if (error != 0) {
            to_api(api)->rdma_destroy_event_channel(channel);
            return -error;
        }
    }
    return created(channel);
}

static void destroy(JNIEnv *env, jclass class, jlong api, jlong channel) {
    to_api(api)->rdma_destroy_event_channel(to_pointer(channel));
}

static jint channel_fd(JNIEnv *env, jclass class, jlong channel) {
    return ((struct rdma_event_channel *) to_pointer(channel))->fd;
}

/* Returns whether an event carries connection parameters; the union is undefined in others (rdma_get_cm_event(3)). */
static bool has_parameters(const struct rdma_cm_event *event) {
    switch (event->event) {
        case RDMA_CM_EVENT_CONNECT_REQUEST:
        case RDMA_CM_EVENT_CONNECT_RESPONSE:
        case RDMA_CM_EVENT_REJECTED:
        case RDMA_CM_EVENT_ESTABLISHED:
            return true;
        case RDMA_CM_EVENT_UNREACHABLE: /* may be a rejection with datagrams */
            return event->id->ps == RDMA_PS_UDP && event->status > 0;
        default:
            return false;
    }
}

static bool is_multicast(enum rdma_cm_event_type type) {
    return type == RDMA_CM_EVENT_MULTICAST_JOIN || type == RDMA_CM_EVENT_MULTICAST_ERROR;
}

/*
 * Copies the parameters of a multicast event, which has the context of ConnectionId.joinMulticast() in place of private
 * data.
 */
static void copy_multicast(JNIEnv *env, const struct rdma_cm_event *event, jlong *numbers, jintArray vector,
                           jbyteArray gid) {
    const struct rdma_ud_param *ud = &event->param.ud;
    numbers[EVENT_QUEUE_PAIR_NUMBER] = ud->qp_num;
    numbers[EVENT_QUEUE_KEY] = ud->qkey;
    numbers[EVENT_MULTICAST_TOKEN] = to_long(ud->private_data);
    write_address_vector(env, &ud->ah_attr, vector, gid);
}

static void copy_parameters(JNIEnv *env, const struct rdma_cm_event *event, jlong *numbers, jbyteArray private_data,
                            jintArray vector, jbyteArray gid) {
    const void *data;
    uint8_t length;
    if (event->id->ps == RDMA_PS_UDP) {
        const struct rdma_ud_param *ud = &event->param.ud;
        numbers[EVENT_QUEUE_PAIR_NUMBER] = ud->qp_num;
        numbers[EVENT_QUEUE_KEY] = ud->qkey;
        write_address_vector(env, &ud->ah_attr, vector, gid);
        data = ud->private_data;
        length = ud->private_data_len;
    } else {
        const struct rdma_conn_param *conn = &event->param.conn;
        numbers[EVENT_RESPONDER_RESOURCES] = conn->responder_resources;
        numbers[EVENT_INITIATOR_DEPTH] = conn->initiator_depth;
        numbers[EVENT_RNR_RETRY_COUNT] = conn->rnr_retry_count;
        numbers[EVENT_QUEUE_PAIR_NUMBER] = conn->qp_num;
        data = conn->private_data;
        length = conn->private_data_len;
    }
    if (data != NULL && length > 0) {
        /* EventChannel's array has room for any uint8_t. */
        (*env)->SetByteArrayRegion(env, private_data, 0, length, data);
        numbers[EVENT_PRIVATE_DATA_LENGTH] = length;
    }
}

/* Fetches an event. Tokens: see ConnectionId.BY_TOKEN. `new_token` becomes the token of the id of a connect request. */
static jint next(JNIEnv *env, jclass class, jlong api, jlong channel, jlong new_token, jlongArray values,
                 jbyteArray private_data, jintArray vector, jbyteArray gid) {
    struct rdma_cm_event *event;
    errno = 0;
    int error = to_errno(to_api(api)->rdma_get_cm_event(to_pointer(channel), &event));
    if (error != 0) {
        return error == EINTR ? EAGAIN : error;
    }
    jlong numbers[EVENT_COUNT];
    memset(numbers, 0, sizeof(numbers));
    numbers[EVENT_TYPE] = event->event;
    numbers[EVENT_STATUS] = event->status;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        numbers[EVENT_TOKEN] = to_long(event->listen_id->context);
        numbers[EVENT_NEW_ID] = to_long(event->id);
        event->id->context = to_pointer(new_token);
    } else {
        numbers[EVENT_TOKEN] = to_long(event->id->context);
    }
    if (is_multicast(event->event)) {
        copy_multicast(env, event, numbers, vector, gid);
    } else if (has_parameters(event)) {
        copy_parameters(env, event, numbers, private_data, vector, gid);
    }
    to_api(api)->rdma_ack_cm_event(event);
    (*env)->SetLongArrayRegion(env, values, 0, EVENT_COUNT, numbers);
    return 0;
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("create0", "(J)J", create),
    JNI_METHOD("destroy0", "(JJ)V", destroy),
    JNI_METHOD("fd0", "(J)I", channel_fd),
    JNI_METHOD("next0", "(JJJ[J[B[I[B)I", next),
};
JNI_CLASS(jni_event_channel, "verbs/EventChannel", methods);
