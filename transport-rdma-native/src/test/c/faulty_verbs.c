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
 * A function table in which calls fail, for tests in Java: linked with the objects of the JNI library, whose
 * verbs_api_get() gives a table of these functions in front of the provider's, whichever that is. The released
 * library has none of it.
 *
 * Each function of verbs_api.h and of ibv_context_ops that is used has a line here, else this does not compile. Those
 * that ask for something fail with what their manual pages say for a shortage; those that give back pass.
 */
#include "verbs_api.h"

#include <errno.h>
#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define OPERATIONS(F)                                                                                                 \
    F(int, post_send, (struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad))                          \
    F(int, post_recv, (struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad))                          \
    F(int, post_srq_recv, (struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad))                    \
    F(int, req_notify_cq, (struct ibv_cq *cq, int solicited_only))

#define ALL(F) VERBS_API_IBVERBS(F) VERBS_API_RDMACM(F) VERBS_API_OPTIONAL(F) VERBS_API_EXTENSIONS(F) OPERATIONS(F)

enum call {
#define CALL(ret, name, args) CALL_##name,
    ALL(CALL)
    CALLS
#undef CALL
};

static const char *const names[] = {
#define NAME(ret, name, args) #name,
    ALL(NAME)
#undef NAME
};

#define ERRORS 2

static const int errors[CALLS][ERRORS] = {
    [CALL_ibv_get_device_list] = { ENOMEM },
    [CALL_ibv_open_device] = { EMFILE, ENOMEM },
    [CALL_ibv_query_device] = { ENOMEM },
    [CALL_ibv_query_port] = { ENOMEM },
    [CALL_ibv_query_gid] = { EMFILE },
    [CALL_ibv_query_pkey] = { EMFILE },
    [CALL__ibv_query_gid_ex] = { ENOMEM },
    [CALL_ibv_alloc_pd] = { ENOMEM },
    [CALL_ibv_reg_mr] = { ENOMEM, EAGAIN },
    [CALL_ibv_reg_dmabuf_mr] = { ENOMEM },
    [CALL_ibv_create_comp_channel] = { EMFILE },
    [CALL_ibv_create_cq] = { ENOMEM, EINVAL },
    [CALL_ibv_create_qp] = { ENOMEM, EINVAL },
    [CALL_ibv_modify_qp] = { ENOMEM },
    [CALL_ibv_query_qp] = { ENOMEM },
    [CALL_ibv_create_srq] = { ENOMEM },
    [CALL_ibv_modify_srq] = { ENOMEM },
    [CALL_ibv_query_srq] = { ENOMEM },
    [CALL_ibv_create_ah] = { ENOMEM },
    [CALL_ibv_create_ah_from_wc] = { ENOMEM },
    [CALL_ibv_attach_mcast] = { ENOMEM },
    [CALL_rdma_get_devices] = { ENOMEM, ENODEV },
    [CALL_rdma_create_event_channel] = { EMFILE, ENODEV },
    [CALL_rdma_create_id] = { ENOMEM, EMFILE },
    [CALL_rdma_bind_addr] = { ENOMEM },
    [CALL_rdma_listen] = { ENOMEM },
    [CALL_rdma_resolve_addr] = { ENOMEM },
    [CALL_rdma_resolve_route] = { ENOMEM },
    [CALL_rdma_create_qp] = { ENOMEM, EINVAL },
    [CALL_rdma_connect] = { ENOMEM },
    [CALL_rdma_accept] = { ENOMEM },
    [CALL_rdma_reject] = { ENOMEM },
    [CALL_rdma_migrate_id] = { ENOMEM },
    [CALL_rdma_set_option] = { ENOMEM },
    [CALL_rdma_get_cm_event] = { ENOMEM },
    [CALL_rdma_join_multicast] = { ENOMEM },
    [CALL_rdma_join_multicast_ex] = { ENOMEM },
    [CALL_ext_set_inline_recv] = { ENOMEM },
    [CALL_post_send] = { ENOMEM },
    [CALL_post_recv] = { ENOMEM },
    [CALL_post_srq_recv] = { ENOMEM },
    [CALL_req_notify_cq] = { ENOMEM },
};

static struct verbs_api real;
static struct ibv_context_ops real_ops;

static atomic_int planned = -1;
static atomic_long occurrence;
static atomic_bool lasting; /* the later calls fail as well */
static atomic_int planned_error;
static atomic_long calls[CALLS];
static atomic_bool fired;

/* 0, or the error of the call, which is in errno as well. */
static int fault(enum call call) {
    long number = ++calls[call];
    if (planned != (int) call || number < occurrence || (number > occurrence && !lasting)) {
        return 0;
    }
    fired = true;
    errno = errors[call][planned_error];
    return errno;
}

/* Returns the result of the real call. */
#define PASS(name, ...) return real.name(__VA_ARGS__)
#define POINTER(name, ...) return fault(CALL_##name) != 0 ? NULL : real.name(__VA_ARGS__)
#define MINUS_ONE(name, ...) return fault(CALL_##name) != 0 ? -1 : real.name(__VA_ARGS__)
#define NUMBER(name, ...)                                                                                             \
    int error = fault(CALL_##name);                                                                                   \
    return error != 0 ? error : real.name(__VA_ARGS__)
/* Requests before this one have been posted: there are none. */
#define POSTED(name, object)                                                                                          \
    int error = fault(CALL_##name);                                                                                   \
    if (error != 0) {                                                                                                 \
        *bad = wr;                                                                                                    \
        return error;                                                                                                 \
    }                                                                                                                 \
    return real_ops.name(object, wr, bad)

/* The operations of contexts that this file has not seen yet: librdmacm opens some of its own. */
static void replace_operations(struct ibv_context *context);

#define MADE(type, name, context_of, ...)                                                                             \
    type *made = fault(CALL_##name) != 0 ? NULL : real.name(__VA_ARGS__);                                             \
    if (made != NULL) {                                                                                               \
        replace_operations(context_of);                                                                               \
    }                                                                                                                 \
    return made

#define BODY_ibv_get_device_list POINTER(ibv_get_device_list, num_devices)
#define BODY_ibv_free_device_list PASS(ibv_free_device_list, list)
#define BODY_ibv_get_device_name PASS(ibv_get_device_name, device)
#define BODY_ibv_open_device MADE(struct ibv_context, ibv_open_device, made, device)
#define BODY_ibv_close_device PASS(ibv_close_device, context)
#define BODY_ibv_query_device NUMBER(ibv_query_device, context, attr)
#define BODY_ibv_query_port NUMBER(ibv_query_port, context, port, attr)
#define BODY_ibv_query_gid MINUS_ONE(ibv_query_gid, context, port, index, gid)
#define BODY_ibv_query_pkey MINUS_ONE(ibv_query_pkey, context, port, index, pkey)
#define BODY_ibv_alloc_pd POINTER(ibv_alloc_pd, context)
#define BODY_ibv_dealloc_pd PASS(ibv_dealloc_pd, pd)
#define BODY_ibv_reg_mr POINTER(ibv_reg_mr, pd, addr, length, access)
#define BODY_ibv_dereg_mr PASS(ibv_dereg_mr, mr)
#define BODY_ibv_create_comp_channel POINTER(ibv_create_comp_channel, context)
#define BODY_ibv_destroy_comp_channel PASS(ibv_destroy_comp_channel, channel)
#define BODY_ibv_create_cq                                                                                            \
    MADE(struct ibv_cq, ibv_create_cq, made->context, context, cqe, cq_context, channel, comp_vector)
#define BODY_ibv_destroy_cq PASS(ibv_destroy_cq, cq)
#define BODY_ibv_get_cq_event PASS(ibv_get_cq_event, channel, cq, cq_context)
#define BODY_ibv_ack_cq_events PASS(ibv_ack_cq_events, cq, nevents)
#define BODY_ibv_create_qp MADE(struct ibv_qp, ibv_create_qp, made->context, pd, attr)
#define BODY_ibv_modify_qp NUMBER(ibv_modify_qp, qp, attr, attr_mask)
#define BODY_ibv_query_qp NUMBER(ibv_query_qp, qp, attr, attr_mask, init_attr)
#define BODY_ibv_destroy_qp PASS(ibv_destroy_qp, qp)
#define BODY_ibv_create_srq MADE(struct ibv_srq, ibv_create_srq, made->context, pd, attr)
#define BODY_ibv_modify_srq NUMBER(ibv_modify_srq, srq, attr, attr_mask)
#define BODY_ibv_query_srq NUMBER(ibv_query_srq, srq, attr)
#define BODY_ibv_destroy_srq PASS(ibv_destroy_srq, srq)
#define BODY_ibv_create_ah POINTER(ibv_create_ah, pd, attr)
#define BODY_ibv_destroy_ah PASS(ibv_destroy_ah, ah)
#define BODY_ibv_init_ah_from_wc PASS(ibv_init_ah_from_wc, context, port, wc, grh, attr)
#define BODY_ibv_create_ah_from_wc POINTER(ibv_create_ah_from_wc, pd, wc, grh, port)
#define BODY_ibv_attach_mcast NUMBER(ibv_attach_mcast, qp, gid, lid)
#define BODY_ibv_detach_mcast PASS(ibv_detach_mcast, qp, gid, lid)
#define BODY_ibv_get_async_event PASS(ibv_get_async_event, context, event)
#define BODY_ibv_ack_async_event PASS(ibv_ack_async_event, event)

#define BODY_rdma_get_devices POINTER(rdma_get_devices, count)
#define BODY_rdma_free_devices PASS(rdma_free_devices, list)
#define BODY_rdma_create_event_channel POINTER(rdma_create_event_channel)
#define BODY_rdma_destroy_event_channel PASS(rdma_destroy_event_channel, channel)
#define BODY_rdma_create_id MINUS_ONE(rdma_create_id, channel, id, context, ps)
#define BODY_rdma_destroy_id PASS(rdma_destroy_id, id)
#define BODY_rdma_bind_addr MINUS_ONE(rdma_bind_addr, id, addr)
#define BODY_rdma_listen MINUS_ONE(rdma_listen, id, backlog)
#define BODY_rdma_resolve_addr MINUS_ONE(rdma_resolve_addr, id, src, dst, timeout_ms)
#define BODY_rdma_resolve_route MINUS_ONE(rdma_resolve_route, id, timeout_ms)
#define BODY_rdma_create_qp                                                                                           \
    int result = fault(CALL_rdma_create_qp) != 0 ? -1 : real.rdma_create_qp(id, pd, attr);                            \
    if (result == 0) {                                                                                                \
        replace_operations(id->qp->context);                                                                          \
    }                                                                                                                 \
    return result
#define BODY_rdma_destroy_qp PASS(rdma_destroy_qp, id)
#define BODY_rdma_connect MINUS_ONE(rdma_connect, id, param)
#define BODY_rdma_accept MINUS_ONE(rdma_accept, id, param)
#define BODY_rdma_reject MINUS_ONE(rdma_reject, id, private_data, private_data_len)
#define BODY_rdma_disconnect PASS(rdma_disconnect, id)
#define BODY_rdma_migrate_id MINUS_ONE(rdma_migrate_id, id, channel)
#define BODY_rdma_set_option MINUS_ONE(rdma_set_option, id, level, optname, optval, optlen)
#define BODY_rdma_get_cm_event MINUS_ONE(rdma_get_cm_event, channel, event)
#define BODY_rdma_ack_cm_event PASS(rdma_ack_cm_event, event)
#define BODY_rdma_join_multicast MINUS_ONE(rdma_join_multicast, id, addr, context)
#define BODY_rdma_join_multicast_ex MINUS_ONE(rdma_join_multicast_ex, id, attr, context)
#define BODY_rdma_leave_multicast PASS(rdma_leave_multicast, id, addr)
#define BODY_rdma_get_src_port PASS(rdma_get_src_port, id)
#define BODY_rdma_get_dst_port PASS(rdma_get_dst_port, id)

#define BODY__ibv_query_gid_ex NUMBER(_ibv_query_gid_ex, context, port, index, entry, flags, entry_size)
#define BODY_ibv_reg_dmabuf_mr POINTER(ibv_reg_dmabuf_mr, pd, offset, length, iova, fd, access)
#define BODY_ext_max_inline_recv PASS(ext_max_inline_recv, context)
#define BODY_ext_take_events NUMBER(ext_take_events, channel, contexts)
#define BODY_ext_takes_edges PASS(ext_takes_edges, channel)
#define BODY_ext_peer_is PASS(ext_peer_is, cq, state)
#define BODY_ext_rnr_naks PASS(ext_rnr_naks, context)
#define BODY_ext_peer PASS(ext_peer, id)
#define BODY_ext_set_inline_recv NUMBER(ext_set_inline_recv, qp, bytes)

#define BODY_post_send POSTED(post_send, qp)
#define BODY_post_recv POSTED(post_recv, qp)
#define BODY_post_srq_recv POSTED(post_srq_recv, srq)
#define BODY_req_notify_cq                                                                                            \
    int error = fault(CALL_req_notify_cq);                                                                            \
    return error != 0 ? error : real_ops.req_notify_cq(cq, solicited_only)

#define FAULTY(ret, name, args)                                                                                       \
    static ret faulty_##name args                                                                                     \
    {                                                                                                                 \
        BODY_##name;                                                                                                  \
    }
ALL(FAULTY)

static void replace_operations(struct ibv_context *context) {
    if (context->ops.post_send != faulty_post_send) {
        real_ops = context->ops; /* the same for all contexts of a device, of which the tests use one */
#define REPLACE(ret, name, args) context->ops.name = faulty_##name;
        OPERATIONS(REPLACE)
#undef REPLACE
    }
}

const struct verbs_api *__real_verbs_api_get(enum verbs_provider provider, char *reason, size_t reason_size);
const struct verbs_api *__wrap_verbs_api_get(enum verbs_provider provider, char *reason, size_t reason_size);

/* The tests use one provider: the one that was asked for last. */
const struct verbs_api *__wrap_verbs_api_get(enum verbs_provider provider, char *reason, size_t reason_size) {
    static struct verbs_api faulty;
    const struct verbs_api *api = __real_verbs_api_get(provider, reason, reason_size);
    if (api == NULL) {
        return NULL;
    }
    real = *api;
#define REPLACE(ret, name, args) faulty.name = real.name != NULL ? faulty_##name : NULL;
    VERBS_API_IBVERBS(REPLACE)
    VERBS_API_RDMACM(REPLACE)
    VERBS_API_OPTIONAL(REPLACE)
    VERBS_API_EXTENSIONS(REPLACE)
#undef REPLACE
    return &faulty;
}

/* ---- io.netty.channel.rdma.verbs.Faults ---- */

JNIEXPORT jobjectArray JNICALL Java_io_netty_channel_rdma_verbs_Faults_names0(JNIEnv *env, jclass class);
JNIEXPORT jint JNICALL Java_io_netty_channel_rdma_verbs_Faults_error0(JNIEnv *env, jclass class, jint call,
                                                                      jint index);
JNIEXPORT void JNICALL Java_io_netty_channel_rdma_verbs_Faults_plan0(JNIEnv *env, jclass class, jint call,
                                                                     jlong number, jboolean and_later, jint error);
JNIEXPORT jlong JNICALL Java_io_netty_channel_rdma_verbs_Faults_calls0(JNIEnv *env, jclass class, jint call);
JNIEXPORT jboolean JNICALL Java_io_netty_channel_rdma_verbs_Faults_fired0(JNIEnv *env, jclass class);

JNIEXPORT jobjectArray JNICALL Java_io_netty_channel_rdma_verbs_Faults_names0(JNIEnv *env, jclass class) {
    (void) class;
    jclass string = (*env)->FindClass(env, "java/lang/String");
    jobjectArray array = (*env)->NewObjectArray(env, CALLS, string, NULL);
    for (int i = 0; array != NULL && i < CALLS; i++) {
        (*env)->SetObjectArrayElement(env, array, i, (*env)->NewStringUTF(env, names[i]));
    }
    return array;
}

JNIEXPORT jint JNICALL Java_io_netty_channel_rdma_verbs_Faults_error0(JNIEnv *env, jclass class, jint call,
                                                                      jint index) {
    (void) env;
    (void) class;
    return index < ERRORS ? errors[call][index] : 0;
}

/* Calls are counted from here on. */
JNIEXPORT void JNICALL Java_io_netty_channel_rdma_verbs_Faults_plan0(JNIEnv *env, jclass class, jint call,
                                                                     jlong number, jboolean and_later, jint error) {
    (void) env;
    (void) class;
    planned = -1;
    for (int i = 0; i < CALLS; i++) {
        calls[i] = 0;
    }
    fired = false;
    occurrence = number;
    lasting = and_later;
    planned_error = error;
    planned = call;
}

JNIEXPORT jlong JNICALL Java_io_netty_channel_rdma_verbs_Faults_calls0(JNIEnv *env, jclass class, jint call) {
    (void) env;
    (void) class;
    return calls[call];
}

JNIEXPORT jboolean JNICALL Java_io_netty_channel_rdma_verbs_Faults_fired0(JNIEnv *env, jclass class) {
    (void) env;
    (void) class;
    return fired;
}
