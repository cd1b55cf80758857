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
/* Natives of SharedReceiveQueue. */
#include "posting.h"

#include <string.h>

/* Indexes of the int[] of SharedReceiveQueue. */
enum { ATTR_MAX_WR, ATTR_MAX_SGE, ATTR_LIMIT, ATTR_COUNT };

static jlong create(JNIEnv *env, jclass class, jlong api, jlong pd, jintArray values) {
    jint v[ATTR_COUNT];
    (*env)->GetIntArrayRegion(env, values, 0, ATTR_COUNT, v);
    struct ibv_srq_init_attr init;
    memset(&init, 0, sizeof(init));
    init.attr.max_wr = (uint32_t) v[ATTR_MAX_WR];
    init.attr.max_sge = (uint32_t) v[ATTR_MAX_SGE];
    errno = 0;
    struct ibv_srq *srq = to_api(api)->ibv_create_srq(to_pointer(pd), &init);
    if (srq != NULL) {
        v[ATTR_MAX_WR] = (jint) init.attr.max_wr;
        v[ATTR_MAX_SGE] = (jint) init.attr.max_sge;
        (*env)->SetIntArrayRegion(env, values, 0, ATTR_LIMIT, v);
    }
    return created(srq);
}

static jint destroy(JNIEnv *env, jclass class, jlong api, jlong srq) {
    return to_errno(to_api(api)->ibv_destroy_srq(to_pointer(srq)));
}

static jint arm(JNIEnv *env, jclass class, jlong api, jlong srq, jint limit) {
    struct ibv_srq_attr attr = { .srq_limit = (uint32_t) limit };
    return to_errno(to_api(api)->ibv_modify_srq(to_pointer(srq), &attr, IBV_SRQ_LIMIT));
}

/* Returns the limit, or a negative errno. */
static jint limit(JNIEnv *env, jclass class, jlong api, jlong srq) {
    struct ibv_srq_attr attr;
    memset(&attr, 0, sizeof(attr));
    int error = to_errno(to_api(api)->ibv_query_srq(to_pointer(srq), &attr));
    return error != 0 ? -error : (jint) attr.srq_limit;
}

static jlong post_receive(JNIEnv *env, jclass class, jlong srq, jlong requests) {
    struct ibv_recv_wr *bad = NULL;
    int result = ibv_post_srq_recv(to_pointer(srq), to_pointer(requests), &bad);
    return result == 0 ? 0 : posted(count_posted(to_pointer(requests), bad), to_errno(result));
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("create0", "(JJ[I)J", create),
    JNI_METHOD("destroy0", "(JJ)I", destroy),
    JNI_METHOD("arm0", "(JJI)I", arm),
    JNI_METHOD("limit0", "(JJ)I", limit),
    JNI_METHOD("postReceive0", "(JJ)J", post_receive),
};
JNI_CLASS(jni_shared_receive_queue, "verbs/SharedReceiveQueue", methods);
