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
/* Natives of ConnectionId: one call of rdma_cma.h each, with addresses taken apart and put together. */
#include "jni_util.h"

#include <endian.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

/* Writes a socket address from the bytes of an InetAddress. */
static void read_address(JNIEnv *env, jbyteArray bytes, jint port, jint scope, struct sockaddr_storage *address) {
    memset(address, 0, sizeof(*address));
    if ((*env)->GetArrayLength(env, bytes) == 4) {
        struct sockaddr_in *in = (struct sockaddr_in *) address;
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t) port);
        (*env)->GetByteArrayRegion(env, bytes, 0, 4, (jbyte *) &in->sin_addr);
    } else {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) address;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t) port);
        in6->sin6_scope_id = (uint32_t) scope;
        (*env)->GetByteArrayRegion(env, bytes, 0, 16, (jbyte *) &in6->sin6_addr);
    }
}

/* librdmacm uses the device of an id in these calls without a check that the id has one (44.0: SIGSEGV). */
static bool has_device(jlong id) {
    return ((struct rdma_cm_id *) to_pointer(id))->verbs != NULL;
}

static jlong create(JNIEnv *env, jclass class, jlong api, jlong channel, jlong token, jint port_space) {
    struct rdma_cm_id *id = NULL;
    errno = 0;
    int error = to_errno(to_api(api)->rdma_create_id(to_pointer(channel), &id, to_pointer(token),
                                              (enum rdma_port_space) port_space));
    return error != 0 ? -error : to_long(id);
}

static jint destroy(JNIEnv *env, jclass class, jlong api, jlong id) {
    errno = 0;
    return to_errno(to_api(api)->rdma_destroy_id(to_pointer(id)));
}

static jint bind_address(JNIEnv *env, jclass class, jlong api, jlong id, jbyteArray bytes, jint port, jint scope) {
    struct sockaddr_storage address;
    read_address(env, bytes, port, scope, &address);
    errno = 0;
    return to_errno(to_api(api)->rdma_bind_addr(to_pointer(id), (struct sockaddr *) &address));
}

static jint start_listening(JNIEnv *env, jclass class, jlong api, jlong id, jint backlog) {
    errno = 0;
    return to_errno(to_api(api)->rdma_listen(to_pointer(id), backlog));
}

static jint resolve_address(JNIEnv *env, jclass class, jlong api, jlong id, jbyteArray local_bytes, jint local_port,
                            jint local_scope, jbyteArray remote_bytes, jint remote_port, jint remote_scope,
                            jint timeout_ms) {
    struct sockaddr_storage local;
    struct sockaddr_storage remote;
    if (local_bytes != NULL) {
        read_address(env, local_bytes, local_port, local_scope, &local);
    }
    read_address(env, remote_bytes, remote_port, remote_scope, &remote);
    errno = 0;
    return to_errno(to_api(api)->rdma_resolve_addr(to_pointer(id),
                                                   local_bytes != NULL ? (struct sockaddr *) &local : NULL,
                                                   (struct sockaddr *) &remote, timeout_ms));
}

static jint resolve_route(JNIEnv *env, jclass class, jlong api, jlong id, jint timeout_ms) {
    if (!has_device(id)) {
        return EINVAL;
    }
    errno = 0;
    return to_errno(to_api(api)->rdma_resolve_route(to_pointer(id), timeout_ms));
}

static jlong device(JNIEnv *env, jclass class, jlong id) {
    return to_long(((struct rdma_cm_id *) to_pointer(id))->verbs);
}

/* Returns the port of the device and the partition key in host order; and the GID of the port. */
static void port(JNIEnv *env, jclass class, jlong id_address, jintArray port_and_key, jbyteArray gid) {
    struct rdma_cm_id *id = to_pointer(id_address);
    const struct rdma_ib_addr *path = &id->route.addr.addr.ibaddr;
    const jint numbers[] = { id->port_num, be16toh(path->pkey) };
    (*env)->SetIntArrayRegion(env, port_and_key, 0, 2, numbers);
    (*env)->SetByteArrayRegion(env, gid, 0, sizeof(path->sgid.raw), (const jbyte *) path->sgid.raw);
}

static void destroy_queue_pair(JNIEnv *env, jclass class, jlong api, jlong id) {
    to_api(api)->rdma_destroy_qp(to_pointer(id));
}

/* Bytes of an array, valid during a call. A uint8_t holds the length, so they fit. */
struct private_data {
    jbyte bytes[UINT8_MAX];
    uint8_t length;
};

static void read_private_data(JNIEnv *env, jbyteArray array, struct private_data *data) {
    jsize length = (*env)->GetArrayLength(env, array);
    data->length = (uint8_t) (length < UINT8_MAX ? length : UINT8_MAX);
    (*env)->GetByteArrayRegion(env, array, 0, data->length, data->bytes);
}

static void fill_parameters(struct rdma_conn_param *param, const struct private_data *data, jint responder_resources,
                            jint initiator_depth, jboolean flow_control, jint retry_count, jint rnr_retry_count,
                            jint qp_num) {
    memset(param, 0, sizeof(*param));
    param->private_data = data->length > 0 ? data->bytes : NULL;
    param->private_data_len = data->length;
    param->responder_resources = (uint8_t) responder_resources;
    param->initiator_depth = (uint8_t) initiator_depth;
    param->flow_control = flow_control;
    param->retry_count = (uint8_t) retry_count;
    param->rnr_retry_count = (uint8_t) rnr_retry_count;
    param->qp_num = (uint32_t) qp_num;
}

static jint call_with_parameters(JNIEnv *env, int (*call)(struct rdma_cm_id *, struct rdma_conn_param *), jlong id,
                                 jbyteArray private_data, jint responder_resources, jint initiator_depth,
                                 jboolean flow_control, jint retry_count, jint rnr_retry_count, jint qp_num) {
    if (!has_device(id)) {
        return EINVAL;
    }
    struct private_data data;
    struct rdma_conn_param param;
    read_private_data(env, private_data, &data);
    fill_parameters(&param, &data, responder_resources, initiator_depth, flow_control, retry_count, rnr_retry_count,
                    qp_num);
    errno = 0;
    return to_errno(call(to_pointer(id), &param));
}

static jint connect_id(JNIEnv *env, jclass class, jlong api, jlong id, jbyteArray private_data,
                       jint responder_resources, jint initiator_depth, jboolean flow_control, jint retry_count,
                       jint rnr_retry_count, jint qp_num) {
    return call_with_parameters(env, to_api(api)->rdma_connect, id, private_data, responder_resources, initiator_depth,
                                flow_control, retry_count, rnr_retry_count, qp_num);
}

static jint accept_id(JNIEnv *env, jclass class, jlong api, jlong id, jbyteArray private_data,
                      jint responder_resources, jint initiator_depth, jboolean flow_control, jint retry_count,
                      jint rnr_retry_count, jint qp_num) {
    return call_with_parameters(env, to_api(api)->rdma_accept, id, private_data, responder_resources, initiator_depth,
                                flow_control, retry_count, rnr_retry_count, qp_num);
}

static jint reject(JNIEnv *env, jclass class, jlong api, jlong id, jbyteArray private_data) {
    struct private_data data;
    read_private_data(env, private_data, &data);
    errno = 0;
    return to_errno(to_api(api)->rdma_reject(to_pointer(id), data.length > 0 ? data.bytes : NULL, data.length));
}

static jint disconnect(JNIEnv *env, jclass class, jlong api, jlong id) {
    if (!has_device(id)) {
        return EINVAL;
    }
    errno = 0;
    return to_errno(to_api(api)->rdma_disconnect(to_pointer(id)));
}

static jint join_multicast(JNIEnv *env, jclass class, jlong api, jlong id, jbyteArray bytes, jint scope,
                           jboolean send_only, jlong join) {
    if (!has_device(id)) {
        return EINVAL;
    }
    struct sockaddr_storage group;
    read_address(env, bytes, 0, scope, &group);
    struct rdma_cm_join_mc_attr_ex attr = {
        .comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
        .join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
        .addr = (struct sockaddr *) &group,
    };
    errno = 0;
    return to_errno(send_only ? to_api(api)->rdma_join_multicast_ex(to_pointer(id), &attr, to_pointer(join))
                              : to_api(api)->rdma_join_multicast(to_pointer(id), attr.addr, to_pointer(join)));
}

static jlong peer(JNIEnv *env, jclass class, jlong api, jlong id) {
    return to_api(api)->ext_peer == NULL ? 0 : (jlong) to_api(api)->ext_peer(to_pointer(id));
}

static jint leave_multicast(JNIEnv *env, jclass class, jlong api, jlong id, jbyteArray bytes, jint scope) {
    struct sockaddr_storage group;
    read_address(env, bytes, 0, scope, &group);
    errno = 0;
    return to_errno(to_api(api)->rdma_leave_multicast(to_pointer(id), (struct sockaddr *) &group));
}

static jint migrate(JNIEnv *env, jclass class, jlong api, jlong id, jlong channel) {
    errno = 0;
    return to_errno(to_api(api)->rdma_migrate_id(to_pointer(id), to_pointer(channel)));
}

/* Indexes of ConnectionId.OPTION_*. */
static const struct {
    int name;
    size_t size;
} options[] = {
    { RDMA_OPTION_ID_TOS, sizeof(uint8_t) },
    { RDMA_OPTION_ID_REUSEADDR, sizeof(int) },
    { RDMA_OPTION_ID_AFONLY, sizeof(int) },
    { RDMA_OPTION_ID_ACK_TIMEOUT, sizeof(uint8_t) },
};

static jint set_option(JNIEnv *env, jclass class, jlong api, jlong id, jint option, jint value) {
    uint8_t byte = (uint8_t) value;
    int number = value;
    void *pointer = options[option].size == sizeof(uint8_t) ? (void *) &byte : (void *) &number;
    errno = 0;
    return to_errno(to_api(api)->rdma_set_option(to_pointer(id), RDMA_OPTION_ID, options[option].name, pointer,
                                          options[option].size));
}

static jint address(JNIEnv *env, jclass class, jlong api, jlong id_address, jboolean local, jbyteArray bytes,
                    jintArray port_and_scope) {
    struct rdma_cm_id *id = to_pointer(id_address);
    struct sockaddr *sockaddr = local ? rdma_get_local_addr(id) : rdma_get_peer_addr(id);
    const void *ip;
    jint length;
    jint numbers[2] = { ntohs(local ? to_api(api)->rdma_get_src_port(id) : to_api(api)->rdma_get_dst_port(id)), 0 };
    if (sockaddr->sa_family == AF_INET) {
        ip = &((struct sockaddr_in *) sockaddr)->sin_addr;
        length = 4;
    } else if (sockaddr->sa_family == AF_INET6) {
        ip = &((struct sockaddr_in6 *) sockaddr)->sin6_addr;
        length = 16;
        numbers[1] = (jint) ((struct sockaddr_in6 *) sockaddr)->sin6_scope_id;
    } else {
        return 0;
    }
    (*env)->SetByteArrayRegion(env, bytes, 0, length, ip);
    (*env)->SetIntArrayRegion(env, port_and_scope, 0, 2, numbers);
    return length;
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("create0", "(JJJI)J", create),
    JNI_METHOD("destroy0", "(JJ)I", destroy),
    JNI_METHOD("bind0", "(JJ[BII)I", bind_address),
    JNI_METHOD("listen0", "(JJI)I", start_listening),
    JNI_METHOD("resolveAddress0", "(JJ[BII[BIII)I", resolve_address),
    JNI_METHOD("resolveRoute0", "(JJI)I", resolve_route),
    JNI_METHOD("device0", "(J)J", device),
    JNI_METHOD("peer0", "(JJ)J", peer),
    JNI_METHOD("port0", "(J[I[B)V", port),
    JNI_METHOD("destroyQueuePair0", "(JJ)V", destroy_queue_pair),
    JNI_METHOD("connect0", "(JJ[BIIZIII)I", connect_id),
    JNI_METHOD("accept0", "(JJ[BIIZIII)I", accept_id),
    JNI_METHOD("reject0", "(JJ[B)I", reject),
    JNI_METHOD("disconnect0", "(JJ)I", disconnect),
    JNI_METHOD("joinMulticast0", "(JJ[BIZJ)I", join_multicast),
    JNI_METHOD("leaveMulticast0", "(JJ[BI)I", leave_multicast),
    JNI_METHOD("migrate0", "(JJJ)I", migrate),
    JNI_METHOD("setOption0", "(JJII)I", set_option),
    JNI_METHOD("address0", "(JJZ[B[I)I", address),
};
JNI_CLASS(jni_connection_id, "verbs/ConnectionId", methods);
