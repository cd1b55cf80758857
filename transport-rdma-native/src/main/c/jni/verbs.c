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
/* Natives of VerbsApi: the function tables of the providers, and the settings of the embedded one. */
#include "jni_util.h"

#include "embedded/embedded.h"

#include <stdbool.h>

/* Returns the address of the table; or 0, and the reason in the array. */
static jlong get_api(JNIEnv *env, jclass class, jint provider, jobjectArray reasons) {
    char reason[1024];
    const struct verbs_api *api = verbs_api_get((enum verbs_provider) provider, reason, sizeof(reason));
    if (api == NULL) {
        jstring text = (*env)->NewStringUTF(env, reason);
        if (text != NULL) {
            (*env)->SetObjectArrayElement(env, reasons, 0, text);
        }
    }
    return to_long(api);
}

/* Copies a string; NULL stays NULL. Returns false if an exception is pending. */
static bool get_text(JNIEnv *env, jstring string, const char **text) {
    *text = string == NULL ? NULL : (*env)->GetStringUTFChars(env, string, NULL);
    return string == NULL || *text != NULL;
}

static void release_text(JNIEnv *env, jstring string, const char *text) {
    if (text != NULL) {
        (*env)->ReleaseStringUTFChars(env, string, text);
    }
}

static jint configure_embedded(JNIEnv *env, jclass class, jstring folder, jstring users, jstring groups) {
    const char *folder_text = NULL, *users_text = NULL, *groups_text = NULL;
    jint error = ENOMEM;
    if (get_text(env, folder, &folder_text) && get_text(env, users, &users_text)
            && get_text(env, groups, &groups_text)) {
        error = embedded_configure(folder_text, users_text, groups_text);
    }
    release_text(env, folder, folder_text);
    release_text(env, users, users_text);
    release_text(env, groups, groups_text);
    return error;
}

static jstring describe_embedded(JNIEnv *env, jclass class) {
    char text[4096];
    embedded_describe(text, sizeof(text));
    return (*env)->NewStringUTF(env, text);
}

static jstring peer_memory(JNIEnv *env, jclass class) {
    char text[4096];
    embedded_peer_memory(text, sizeof(text));
    return (*env)->NewStringUTF(env, text);
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("api0", "(I[Ljava/lang/String;)J", get_api),
    JNI_METHOD("configureEmbedded0", "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)I", configure_embedded),
    JNI_METHOD("describeEmbedded0", "()Ljava/lang/String;", describe_embedded),
    JNI_METHOD("peerMemory0", "()Ljava/lang/String;", peer_memory),
};
JNI_CLASS(jni_verbs, "verbs/VerbsApi", methods);
