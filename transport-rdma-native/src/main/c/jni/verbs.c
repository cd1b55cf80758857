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
/* Natives of Verbs: choosing the provider. */
#include "jni_util.h"

static jstring select_provider(JNIEnv *env, jclass class, jint provider)
{
    (void) class;
    char reason[512];
    if (verbs_api_select((enum verbs_provider) provider, reason, sizeof(reason)) == 0) {
        return NULL;
    }
    return (*env)->NewStringUTF(env, reason);
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("selectProvider0", "(I)Ljava/lang/String;", select_provider),
};
JNI_CLASS(jni_verbs, "verbs/Verbs", methods);
