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
/*
 * Build of the library, which NativeVersion.java compares with the build of the classes. This class is the same in all
 * versions and registered first, so that it can report classes that differ.
 */
#include "jni_util.h"

/* Name of the class whose natives the library could not register, or NULL. */
static const char *unregistered_class;

void native_version_failed(const struct jni_class *definition) {
    unregistered_class = definition->name;
}

static jstring version(JNIEnv *env, jclass class) {
    return (*env)->NewStringUTF(env, NATIVE_VERSION);
}

static jstring unregistered(JNIEnv *env, jclass class) {
    return unregistered_class == NULL ? NULL : (*env)->NewStringUTF(env, unregistered_class);
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("version0", "()Ljava/lang/String;", version),
    JNI_METHOD("unregistered0", "()Ljava/lang/String;", unregistered),
};
JNI_CLASS(jni_native_version, "verbs/NativeVersion", methods);
