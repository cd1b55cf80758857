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
 * Native methods for stalls.h: compiled with -finstrument-functions, by which each calls what follows, and with another
 * name for their JNI_OnLoad().
 */
#include "stalls.h"

#include <jni.h>
#include <jvmti.h>
#include <stdio.h>

jint product_JNI_OnLoad(JavaVM *vm, void *reserved);
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller) {
    (void) caller;
    stall_enter(function);
}

void __cyg_profile_func_exit(void *function, void *caller) {
    (void) function;
    (void) caller;
    stall_leave();
}

/* ---- the functions of the JVM that native methods call: it may have each wait for its garbage collector ---- */

static struct JNINativeInterface_ real;

#define VALUES(F)                                                                                                     \
    F(jclass, FindClass, (JNIEnv *env, const char *name), (env, name))                                                \
    F(jsize, GetArrayLength, (JNIEnv *env, jarray array), (env, array))                                               \
    F(void *, GetDirectBufferAddress, (JNIEnv *env, jobject buffer), (env, buffer))                                   \
    F(jfieldID, GetFieldID, (JNIEnv *env, jclass class, const char *name, const char *type), (env, class, name, type)) \
    F(jobject, GetObjectField, (JNIEnv *env, jobject object, jfieldID field), (env, object, field))                   \
    F(const char *, GetStringUTFChars, (JNIEnv *env, jstring string, jboolean *copied), (env, string, copied))        \
    F(jobject, NewDirectByteBuffer, (JNIEnv *env, void *address, jlong size), (env, address, size))                   \
    F(jintArray, NewIntArray, (JNIEnv *env, jsize length), (env, length))                                             \
    F(jobjectArray, NewObjectArray, (JNIEnv *env, jsize length, jclass class, jobject first),                         \
      (env, length, class, first))                                                                                    \
    F(jstring, NewStringUTF, (JNIEnv *env, const char *text), (env, text))                                            \
    F(jint, RegisterNatives, (JNIEnv *env, jclass class, const JNINativeMethod *methods, jint count),                 \
      (env, class, methods, count))

#define NOTHING(F)                                                                                                    \
    F(DeleteLocalRef, (JNIEnv *env, jobject object), (env, object))                                                   \
    F(ExceptionClear, (JNIEnv *env), (env))                                                                           \
    F(GetByteArrayRegion, (JNIEnv *env, jbyteArray array, jsize from, jsize length, jbyte *to),                       \
      (env, array, from, length, to))                                                                                 \
    F(GetIntArrayRegion, (JNIEnv *env, jintArray array, jsize from, jsize length, jint *to),                          \
      (env, array, from, length, to))                                                                                 \
    F(ReleaseStringUTFChars, (JNIEnv *env, jstring string, const char *text), (env, string, text))                    \
    F(SetByteArrayRegion, (JNIEnv *env, jbyteArray array, jsize from, jsize length, const jbyte *values),             \
      (env, array, from, length, values))                                                                             \
    F(SetIntArrayRegion, (JNIEnv *env, jintArray array, jsize from, jsize length, const jint *values),                \
      (env, array, from, length, values))                                                                             \
    F(SetLongArrayRegion, (JNIEnv *env, jlongArray array, jsize from, jsize length, const jlong *values),             \
      (env, array, from, length, values))                                                                             \
    F(SetLongField, (JNIEnv *env, jobject object, jfieldID field, jlong value), (env, object, field, value))          \
    F(SetObjectArrayElement, (JNIEnv *env, jobjectArray array, jsize at, jobject value), (env, array, at, value))

#define VALUE(type, name, parameters, arguments)                                                                      \
    static type JNICALL paused_##name parameters {                                                                    \
        stall_pause();                                                                                                \
        type result = real.name arguments;                                                                            \
        stall_resume();                                                                                               \
        return result;                                                                                                \
    }
#define NO_VALUE(name, parameters, arguments)                                                                         \
    static void JNICALL paused_##name parameters {                                                                    \
        stall_pause();                                                                                                \
        real.name arguments;                                                                                          \
        stall_resume();                                                                                               \
    }
VALUES(VALUE)
NOTHING(NO_VALUE)

/* A JVM has one table of them for all libraries, which the tool interface may replace. */
JNIEXPORT jint JNI_OnLoad(JavaVM *vm, void *reserved) {
    jvmtiEnv *tools;
    jniNativeInterface *table;
    if ((*vm)->GetEnv(vm, (void **) &tools, JVMTI_VERSION_1_2) != JNI_OK
            || (*tools)->GetJNIFunctionTable(tools, &table) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    real = *table;
#define REPLACE_VALUE(type, name, parameters, arguments) table->name = paused_##name;
#define REPLACE(name, parameters, arguments) table->name = paused_##name;
    VALUES(REPLACE_VALUE)
    NOTHING(REPLACE)
    if ((*tools)->SetJNIFunctionTable(tools, table) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    fprintf(stderr, "STALLS are watched\n"); /* scripts/lanes.sh: tests have this library and no other one */
    return product_JNI_OnLoad(vm, reserved);
}
