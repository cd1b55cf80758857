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
/* Natives of Device: the list of devices, opening, limits, asynchronous events. */
#include "jni_util.h"

#include <string.h>

static jobjectArray names(JNIEnv *env, jclass class, jlong api) {
    int count = 0;
    struct ibv_device **list = to_api(api)->ibv_get_device_list(&count);
    if (list == NULL) {
        return NULL;
    }
    jclass string = (*env)->FindClass(env, "java/lang/String");
    jobjectArray array = string != NULL ? (*env)->NewObjectArray(env, count, string, NULL) : NULL;
    for (int i = 0; array != NULL && i < count; i++) {
        jstring name = (*env)->NewStringUTF(env, to_api(api)->ibv_get_device_name(list[i]));
        if (name == NULL) {
            array = NULL;
            break;
        }
        (*env)->SetObjectArrayElement(env, array, i, name);
        (*env)->DeleteLocalRef(env, name);
    }
    to_api(api)->ibv_free_device_list(list);
    return array;
}

static jlong open_device(JNIEnv *env, jclass class, jlong api, jstring name) {
    const char *wanted = (*env)->GetStringUTFChars(env, name, NULL);
    if (wanted == NULL) {
        return -ENOMEM;
    }
    jlong result = -ENODEV;
    int count = 0;
    errno = 0;
    struct ibv_device **list = to_api(api)->ibv_get_device_list(&count);
    if (list == NULL) {
        result = created(NULL);
    } else {
        for (int i = 0; i < count; i++) {
            if (strcmp(to_api(api)->ibv_get_device_name(list[i]), wanted) == 0) {
                errno = 0;
                result = created(to_api(api)->ibv_open_device(list[i]));
                break;
            }
        }
        to_api(api)->ibv_free_device_list(list);
    }
    (*env)->ReleaseStringUTFChars(env, name, wanted);
    return result;
}

/* Returns the device of librdmacm, which opens each device once and keeps it. */
static jlong shared_device(JNIEnv *env, jclass class, jlong api, jstring name) {
    const char *wanted = (*env)->GetStringUTFChars(env, name, NULL);
    if (wanted == NULL) {
        return -ENOMEM;
    }
    int count = 0;
    errno = 0;
    struct ibv_context **list = to_api(api)->rdma_get_devices(&count);
    jlong result = list == NULL ? created(NULL) : -ENODEV;
    for (int i = 0; list != NULL && i < count; i++) {
        if (strcmp(to_api(api)->ibv_get_device_name(list[i]->device), wanted) == 0) {
            result = to_long(list[i]);
            break;
        }
    }
    if (list != NULL) {
        to_api(api)->rdma_free_devices(list);
    }
    (*env)->ReleaseStringUTFChars(env, name, wanted);
    return result;
}

static jint close_device(JNIEnv *env, jclass class, jlong api, jlong context) {
    return to_errno(to_api(api)->ibv_close_device(to_pointer(context)));
}

static jstring name(JNIEnv *env, jclass class, jlong api, jlong context) {
    const struct ibv_context *opened = to_pointer(context);
    return (*env)->NewStringUTF(env, to_api(api)->ibv_get_device_name(opened->device));
}

static jboolean is_iwarp(JNIEnv *env, jclass class, jlong context) {
    return ((struct ibv_context *) to_pointer(context))->device->transport_type == IBV_TRANSPORT_IWARP;
}

/* Attributes in the order of the accessors of DeviceAttributes. */
static jint attributes(JNIEnv *env, jclass class, jlong api, jlong context, jlongArray values) {
    struct ibv_device_attr attr;
    memset(&attr, 0, sizeof(attr));
    int error = to_errno(to_api(api)->ibv_query_device(to_pointer(context), &attr));
    if (error != 0) {
        return error;
    }
    const jlong numbers[] = {
        attr.max_qp,          attr.max_qp_wr,          attr.max_sge, attr.max_cq,        attr.max_cqe,
        attr.max_mr,          (jlong) attr.max_mr_size, attr.max_pd,  attr.max_qp_rd_atom, attr.max_qp_init_rd_atom,
        attr.max_srq,         attr.phys_port_cnt,      (jlong) attr.atomic_cap,
        (jlong) be64toh(attr.node_guid), attr.vendor_id, attr.max_sge_rd, attr.max_srq_wr, attr.max_srq_sge,
        attr.max_mcast_grp,   attr.max_mcast_qp_attach, (jlong) attr.device_cap_flags, attr.max_mw,
    };
    (*env)->SetLongArrayRegion(env, values, 0, sizeof(numbers) / sizeof(*numbers), numbers);
    return 0;
}

static jint max_inline_receive(JNIEnv *env, jclass class, jlong api, jlong context) {
    return to_api(api)->ext_max_inline_recv == NULL ? 0 : (jint) to_api(api)->ext_max_inline_recv(to_pointer(context));
}

/* Returns the counter; -1: the device counts elsewhere. */
static jlong rnr_naks(JNIEnv *env, jclass class, jlong api, jlong context) {
    return to_api(api)->ext_rnr_naks == NULL ? -1 : (jlong) to_api(api)->ext_rnr_naks(to_pointer(context));
}

/*
 * Queries a port as the macro ibv_query_port of verbs.h does. The exported function fills an older, shorter struct. The
 * function in a provider's extended context fills the whole struct.
 */
static int query_port(jlong api, struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr) {
    memset(attr, 0, sizeof(*attr));
    struct verbs_context *extended = verbs_get_ctx_op(context, query_port);
    if (extended != NULL) {
        return extended->query_port(context, port, attr, sizeof(*attr));
    }
    return to_api(api)->ibv_query_port(context, port, (struct _compat_ibv_port_attr *) attr);
}

/* Attributes in the order of the accessors of PortAttributes. */
static jint port_attributes(JNIEnv *env, jclass class, jlong api, jlong context, jint port, jintArray values) {
    struct ibv_port_attr attr;
    int error = to_errno(query_port(api, to_pointer(context), (uint8_t) port, &attr));
    if (error != 0) {
        return error;
    }
    const jint numbers[] = {
        (jint) attr.state, (jint) attr.max_mtu, (jint) attr.active_mtu, attr.lid, attr.gid_tbl_len,
        (jint) attr.max_msg_sz, attr.link_layer, attr.pkey_tbl_len,
    };
    (*env)->SetIntArrayRegion(env, values, 0, sizeof(numbers) / sizeof(*numbers), numbers);
    return 0;
}

static jint gid(JNIEnv *env, jclass class, jlong api, jlong context, jint port, jint index, jbyteArray bytes) {
    union ibv_gid value;
    errno = 0;
    int error = to_errno(to_api(api)->ibv_query_gid(to_pointer(context), (uint8_t) port, index, &value));
    if (error == 0) {
        (*env)->SetByteArrayRegion(env, bytes, 0, sizeof(value.raw), (const jbyte *) value.raw);
    }
    return error;
}

/* Returns the key in host order, or a negative errno. */
static jint partition_key(JNIEnv *env, jclass class, jlong api, jlong context, jint port, jint index) {
    __be16 key;
    errno = 0;
    int error = to_errno(to_api(api)->ibv_query_pkey(to_pointer(context), (uint8_t) port, index, &key));
    return error != 0 ? -error : be16toh(key);
}

static jint gid_entry(JNIEnv *env, jclass class, jlong api, jlong context, jint port, jint index,
                      jbyteArray bytes, jintArray type_and_interface) {
    struct ibv_gid_entry entry;
    jint numbers[2] = { -1, 0 };
    if (to_api(api)->_ibv_query_gid_ex == NULL) {
        static const uint8_t none[sizeof(entry.gid.raw)];
        int error = gid(env, class, api, context, port, index, bytes);
        if (error != 0) {
            return error;
        }
        (*env)->GetByteArrayRegion(env, bytes, 0, sizeof(entry.gid.raw), (jbyte *) entry.gid.raw);
        if (memcmp(entry.gid.raw, none, sizeof(none)) == 0) {
            return ENODATA;
        }
    } else {
        int error = to_errno(to_api(api)->_ibv_query_gid_ex(to_pointer(context), (uint32_t) port, (uint32_t) index,
                                                            &entry, 0, sizeof(entry)));
        if (error != 0) {
            return error;
        }
        (*env)->SetByteArrayRegion(env, bytes, 0, sizeof(entry.gid.raw), (const jbyte *) entry.gid.raw);
        numbers[0] = (jint) entry.gid_type;
        numbers[1] = (jint) entry.ndev_ifindex;
    }
    (*env)->SetIntArrayRegion(env, type_and_interface, 0, 2, numbers);
    return 0;
}

static jint async_fd(JNIEnv *env, jclass class, jlong context) {
    int fd = ((struct ibv_context *) to_pointer(context))->async_fd;
    int error = set_nonblocking(fd);
    return error != 0 ? -error : fd;
}

/* Values in the order of the arguments of the constructor of AsyncEvent. */
static jint next_async_event(JNIEnv *env, jclass class, jlong api, jlong context, jlongArray values) {
    struct ibv_async_event event;
    errno = 0;
    int error = to_errno(to_api(api)->ibv_get_async_event(to_pointer(context), &event));
    if (error != 0) {
        return error == EINTR ? EAGAIN : error;
    }
    jlong numbers[] = { event.event_type, 0, 0, 0 };
    switch (event.event_type) {
        case IBV_EVENT_CQ_ERR:
            numbers[1] = to_long(event.element.cq);
            break;
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            numbers[1] = to_long(event.element.srq);
            break;
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED:
            numbers[1] = to_long(event.element.qp);
            /* The queue pair cannot be destroyed before the acknowledgement below. */
            numbers[2] = event.element.qp->qp_num;
            break;
        case IBV_EVENT_PORT_ACTIVE:
        case IBV_EVENT_PORT_ERR:
        case IBV_EVENT_LID_CHANGE:
        case IBV_EVENT_PKEY_CHANGE:
        case IBV_EVENT_SM_CHANGE:
        case IBV_EVENT_CLIENT_REREGISTER:
        case IBV_EVENT_GID_CHANGE:
            numbers[3] = event.element.port_num;
            break;
        default:
            break;
    }
    to_api(api)->ibv_ack_async_event(&event);
    (*env)->SetLongArrayRegion(env, values, 0, sizeof(numbers) / sizeof(*numbers), numbers);
    return 0;
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("names0", "(J)[Ljava/lang/String;", names),
    JNI_METHOD("open0", "(JLjava/lang/String;)J", open_device),
    JNI_METHOD("shared0", "(JLjava/lang/String;)J", shared_device),
    JNI_METHOD("close0", "(JJ)I", close_device),
    JNI_METHOD("name0", "(JJ)Ljava/lang/String;", name),
    JNI_METHOD("isIwarp0", "(J)Z", is_iwarp),
    JNI_METHOD("attributes0", "(JJ[J)I", attributes),
    JNI_METHOD("maxInlineReceive0", "(JJ)I", max_inline_receive),
    JNI_METHOD("rnrNaks0", "(JJ)J", rnr_naks),
    JNI_METHOD("portAttributes0", "(JJI[I)I", port_attributes),
    JNI_METHOD("gid0", "(JJII[B)I", gid),
    JNI_METHOD("partitionKey0", "(JJII)I", partition_key),
    JNI_METHOD("gidEntry0", "(JJII[B[I)I", gid_entry),
    JNI_METHOD("asyncFd0", "(J)I", async_fd),
    JNI_METHOD("nextAsyncEvent0", "(JJ[J)I", next_async_event),
};
JNI_CLASS(jni_device, "verbs/Device", methods);
