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
/* Natives of Verbs: the function tables of the providers. */
#include "jni_util.h"

/* The address of the table; or 0, and the reason is in the array. */
static jlong get_api(JNIEnv *env, jclass class, jint provider, jobjectArray reasons)
{
    (void) class;
    char reason[512];
    const struct verbs_api *api = verbs_api_get((enum verbs_provider) provider, reason, sizeof(reason));
    if (api == NULL) {
        jstring text = (*env)->NewStringUTF(env, reason);
        if (text != NULL) {
            (*env)->SetObjectArrayElement(env, reasons, 0, text);
        }
    }
    return to_long(api);
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("api0", "(I[Ljava/lang/String;)J", get_api),
};
JNI_CLASS(jni_verbs, "verbs/Verbs", methods);
