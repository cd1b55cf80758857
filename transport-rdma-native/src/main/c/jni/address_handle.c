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
/* Natives of AddressHandle. */
#include "address_vector.h"

#include <string.h>

static jlong create(JNIEnv *env, jclass class, jlong api, jlong pd, jintArray values, jbyteArray gid) {
    struct ibv_ah_attr attr;
    read_address_vector(env, values, gid, &attr);
    errno = 0;
    return created(to_api(api)->ibv_create_ah(to_pointer(pd), &attr));
}

static jlong create_from_completion(JNIEnv *env, jclass class, jlong api, jlong pd, jlong completion,
                                    jlong global_header, jint port) {
    errno = 0;
    return created(to_api(api)->ibv_create_ah_from_wc(to_pointer(pd), to_pointer(completion), to_pointer(global_header),
                                               (uint8_t) port));
}

static jint destroy(JNIEnv *env, jclass class, jlong api, jlong handle) {
    errno = 0;
    return to_errno(to_api(api)->ibv_destroy_ah(to_pointer(handle)));
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("create0", "(JJ[I[B)J", create),
    JNI_METHOD("createFromCompletion0", "(JJJJI)J", create_from_completion),
    JNI_METHOD("destroy0", "(JJ)I", destroy),
};
JNI_CLASS(jni_address_handle, "verbs/AddressHandle", methods);
