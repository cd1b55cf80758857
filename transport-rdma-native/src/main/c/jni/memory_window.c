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
/* Natives of MemoryWindow. */
#include "jni_util.h"

static jlong allocate_window(JNIEnv *env, jclass class, jlong pd) {
    errno = 0;
    return created(ibv_alloc_mw(to_pointer(pd), IBV_MW_TYPE_2));
}

static jint deallocate_window(JNIEnv *env, jclass class, jlong mw) {
    return to_errno(ibv_dealloc_mw(to_pointer(mw)));
}

static jint window_key(JNIEnv *env, jclass class, jlong mw) {
    return (jint) ((const struct ibv_mw *) to_pointer(mw))->rkey;
}

static void set_window_key(JNIEnv *env, jclass class, jlong mw, jint rkey) {
    ((struct ibv_mw *) to_pointer(mw))->rkey = (uint32_t) rkey;
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("allocate0", "(J)J", allocate_window),
    JNI_METHOD("deallocate0", "(J)I", deallocate_window),
    JNI_METHOD("key0", "(J)I", window_key),
    JNI_METHOD("setKey0", "(JI)V", set_window_key),
};
JNI_CLASS(jni_memory_window, "verbs/MemoryWindow", methods);
