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
/* Natives of ProtectionDomain. */
#include "jni_util.h"

static jlong allocate(JNIEnv *env, jclass class, jlong api, jlong context) {
    errno = 0;
    return created(to_api(api)->ibv_alloc_pd(to_pointer(context)));
}

static jint deallocate(JNIEnv *env, jclass class, jlong api, jlong pd) {
    return to_errno(to_api(api)->ibv_dealloc_pd(to_pointer(pd)));
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("allocate0", "(JJ)J", allocate),
    JNI_METHOD("deallocate0", "(JJ)I", deallocate),
};
JNI_CLASS(jni_protection_domain, "verbs/ProtectionDomain", methods);
