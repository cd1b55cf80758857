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
/* Natives of PageMemory. */
#include "jni_util.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static jint page_size(JNIEnv *env, jclass class) {
    return (jint) sysconf(_SC_PAGESIZE);
}

static jlong map(JNIEnv *env, jclass class, jint bytes) {
    void *memory = mmap(NULL, (size_t) bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return -(jlong) errno;
    }
    /* The kernel merges neighbours, and would make a huge page of the first one that is written. */
    madvise(memory, (size_t) bytes, MADV_NOHUGEPAGE);
    return to_long(memory);
}

static jobject buffer(JNIEnv *env, jclass class, jlong address, jint bytes) {
    return (*env)->NewDirectByteBuffer(env, to_pointer(address), bytes);
}

static void unmap(JNIEnv *env, jclass class, jlong address, jint bytes) {
    munmap(to_pointer(address), (size_t) bytes);
}

/* Gives the pages back: the memory is zero then. */
static void clear(JNIEnv *env, jclass class, jlong address, jint bytes) {
    if (madvise(to_pointer(address), (size_t) bytes, MADV_DONTNEED) != 0) {
        memset(to_pointer(address), 0, (size_t) bytes); /* memory locked by mlockall(2) */
    }
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("pageSize0", "()I", page_size),
    JNI_METHOD("map0", "(I)J", map),
    JNI_METHOD("buffer0", "(JI)Ljava/nio/ByteBuffer;", buffer),
    JNI_METHOD("unmap0", "(JI)V", unmap),
    JNI_METHOD("clear0", "(JI)V", clear),
};
JNI_CLASS(jni_page_memory, "memory/PageMemory", methods);
