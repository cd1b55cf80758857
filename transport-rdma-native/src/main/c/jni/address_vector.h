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
/* Conversion of struct ibv_ah_attr to and from the int[] and the byte[] of AddressVector. */
#ifndef NETTY_RDMA_JNI_ADDRESS_VECTOR_H
#define NETTY_RDMA_JNI_ADDRESS_VECTOR_H

#include "jni_util.h"

#include <string.h>

/* Indexes of the int[]. */
enum {
    VECTOR_LID,
    VECTOR_PORT,
    VECTOR_SERVICE_LEVEL,
    VECTOR_PATH_BITS,
    VECTOR_STATIC_RATE,
    VECTOR_GLOBAL,
    VECTOR_GID_INDEX,
    VECTOR_HOP_LIMIT,
    VECTOR_TRAFFIC_CLASS,
    VECTOR_FLOW_LABEL,
    VECTOR_COUNT
};

static inline void read_address_vector(JNIEnv *env, jintArray values, jbyteArray gid, struct ibv_ah_attr *attr) {
    jint v[VECTOR_COUNT];
    (*env)->GetIntArrayRegion(env, values, 0, VECTOR_COUNT, v);
    memset(attr, 0, sizeof(*attr));
    attr->dlid = (uint16_t) v[VECTOR_LID];
    attr->port_num = (uint8_t) v[VECTOR_PORT];
    attr->sl = (uint8_t) v[VECTOR_SERVICE_LEVEL];
    attr->src_path_bits = (uint8_t) v[VECTOR_PATH_BITS];
    attr->static_rate = (uint8_t) v[VECTOR_STATIC_RATE];
    attr->is_global = v[VECTOR_GLOBAL] != 0;
    attr->grh.sgid_index = (uint8_t) v[VECTOR_GID_INDEX];
    attr->grh.hop_limit = (uint8_t) v[VECTOR_HOP_LIMIT];
    attr->grh.traffic_class = (uint8_t) v[VECTOR_TRAFFIC_CLASS];
    attr->grh.flow_label = (uint32_t) v[VECTOR_FLOW_LABEL];
    (*env)->GetByteArrayRegion(env, gid, 0, sizeof(attr->grh.dgid.raw), (jbyte *) attr->grh.dgid.raw);
}

static inline void write_address_vector(JNIEnv *env, const struct ibv_ah_attr *attr, jintArray values, jbyteArray gid) {
    const jint v[VECTOR_COUNT] = {
        [VECTOR_LID] = attr->dlid,
        [VECTOR_PORT] = attr->port_num,
        [VECTOR_SERVICE_LEVEL] = attr->sl,
        [VECTOR_PATH_BITS] = attr->src_path_bits,
        [VECTOR_STATIC_RATE] = attr->static_rate,
        [VECTOR_GLOBAL] = attr->is_global != 0,
        [VECTOR_GID_INDEX] = attr->grh.sgid_index,
        [VECTOR_HOP_LIMIT] = attr->grh.hop_limit,
        [VECTOR_TRAFFIC_CLASS] = attr->grh.traffic_class,
        [VECTOR_FLOW_LABEL] = (jint) attr->grh.flow_label,
    };
    (*env)->SetIntArrayRegion(env, values, 0, VECTOR_COUNT, v);
    (*env)->SetByteArrayRegion(env, gid, 0, sizeof(attr->grh.dgid.raw), (const jbyte *) attr->grh.dgid.raw);
}

#endif
