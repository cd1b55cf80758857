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
/* Natives of MemoryRegion. */
#include "jni_util.h"

static jlong register_region(JNIEnv *env, jclass class, jlong api, jlong pd, jlong address, jlong length, jint access) {
    errno = 0;
    return created(to_api(api)->ibv_reg_mr(to_pointer(pd), to_pointer(address), (size_t) length, access));
}

static jlong register_dmabuf(JNIEnv *env, jclass class, jlong api, jlong pd, jlong offset, jlong length, jlong iova,
                             jint fd, jint access) {
    if (to_api(api)->ibv_reg_dmabuf_mr == NULL) {
        return -EOPNOTSUPP;
    }
    errno = 0;
    return created(to_api(api)->ibv_reg_dmabuf_mr(to_pointer(pd), (uint64_t) offset, (size_t) length, (uint64_t) iova,
                                                  fd, access));
}

static jint deregister_region(JNIEnv *env, jclass class, jlong api, jlong mr) {
    return to_errno(to_api(api)->ibv_dereg_mr(to_pointer(mr)));
}

static jlong keys(JNIEnv *env, jclass class, jlong mr) {
    const struct ibv_mr *region = to_pointer(mr);
    return (jlong) ((uint64_t) region->lkey << 32 | region->rkey);
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("register0", "(JJJJI)J", register_region),
    JNI_METHOD("registerDmabuf0", "(JJJJJII)J", register_dmabuf),
    JNI_METHOD("deregister0", "(JJ)I", deregister_region),
    JNI_METHOD("keys0", "(J)J", keys),
};
JNI_CLASS(jni_memory_region, "verbs/MemoryRegion", methods);
