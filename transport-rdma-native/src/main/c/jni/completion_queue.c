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
/* Natives of CompletionQueue: polling and arming. */
#include "jni_util.h"

/* Flag in the result of poll_or_arm(): the queue was armed. */
#define ARMED (1 << 30)

static jlong create(JNIEnv *env, jclass class, jlong api, jlong context, jint capacity, jlong channel, jlong mark) {
    (void) env;
    (void) class;
    errno = 0;
    return created(to_api(api)->ibv_create_cq(to_pointer(context), capacity, to_pointer(mark), to_pointer(channel), 0));
}

static jint destroy(JNIEnv *env, jclass class, jlong api, jlong cq) {
    (void) env;
    (void) class;
    return to_errno(to_api(api)->ibv_destroy_cq(to_pointer(cq)));
}

static jint capacity(JNIEnv *env, jclass class, jlong cq) {
    (void) env;
    (void) class;
    return ((struct ibv_cq *) to_pointer(cq))->cqe;
}

static int poll_queue(struct ibv_cq *cq, jlong completions, jint count) {
    int n = ibv_poll_cq(cq, count, to_pointer(completions));
    return n >= 0 ? n : -to_errno(n);
}

static jint poll(JNIEnv *env, jclass class, jlong cq, jlong completions, jint count) {
    (void) env;
    (void) class;
    return poll_queue(to_pointer(cq), completions, count);
}

static jint poll_or_arm(JNIEnv *env, jclass class, jlong cq, jlong completions, jint count) {
    (void) env;
    (void) class;
    int n = poll_queue(to_pointer(cq), completions, count);
    if (n != 0) {
        return n;
    }
    int error = to_errno(ibv_req_notify_cq(to_pointer(cq), 0));
    if (error != 0) {
        return -error;
    }
    /* An event is only owed for completions added after the arming (ibv_req_notify_cq(3)). */
    n = poll_queue(to_pointer(cq), completions, count);
    return n < 0 ? n : n | ARMED;
}

static jboolean peer_is(JNIEnv *env, jclass class, jlong api, jlong cq, jint state) {
    (void) env;
    (void) class;
    return to_api(api)->ext_peer_is != NULL && to_api(api)->ext_peer_is(to_pointer(cq), (enum ext_peer_state) state);
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("create0", "(JJIJJ)J", create),
    JNI_METHOD("destroy0", "(JJ)I", destroy),
    JNI_METHOD("capacity0", "(J)I", capacity),
    JNI_METHOD("poll0", "(JJI)I", poll),
    JNI_METHOD("pollOrArm0", "(JJI)I", poll_or_arm),
    JNI_METHOD("peerIs0", "(JJI)Z", peer_is),
};
JNI_CLASS(jni_completion_queue, "verbs/CompletionQueue", methods);
