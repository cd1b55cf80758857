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
/* Natives of RegionFile: private fields of Netty's DefaultFileRegion. */
#include "jni_util.h"

static jfieldID file_field;
static jfieldID transferred_field;

static jfieldID field(JNIEnv *env, jclass class, const char *name, const char *signature) {
    jfieldID id = (*env)->GetFieldID(env, class, name, signature);
    if (id == NULL) {
        (*env)->ExceptionClear(env);
    }
    return id;
}

/* Gets the class as an argument, not by name, because the class may have been relocated. */
static jboolean init(JNIEnv *env, jclass class, jclass regions) {
    file_field = field(env, regions, "file", "Ljava/nio/channels/FileChannel;");
    transferred_field = field(env, regions, "transferred", "J");
    return file_field != NULL && transferred_field != NULL;
}

static jobject channel(JNIEnv *env, jclass class, jobject region) {
    return (*env)->GetObjectField(env, region, file_field);
}

static void set_transferred(JNIEnv *env, jclass class, jobject region, jlong bytes) {
    (*env)->SetLongField(env, region, transferred_field, bytes);
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("init0", "(Ljava/lang/Class;)Z", init),
    JNI_METHOD("channel0", "(Ljava/lang/Object;)Ljava/lang/Object;", channel),
    JNI_METHOD("setTransferred0", "(Ljava/lang/Object;J)V", set_transferred),
};
JNI_CLASS(jni_region_file, "connection/RegionFile", methods);
