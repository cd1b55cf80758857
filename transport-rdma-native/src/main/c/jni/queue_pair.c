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
/* Natives of QueuePair: creation, state and posting. */
#include "posting.h"

#include <stdbool.h>
#include <string.h>

/* Number of receives without memory posted with one call of ibv_post_recv(). */
#define EMPTY_RECEIVES 64

/* Indexes of the int[] of QueuePairInitAttributes. */
enum {
    INIT_TYPE,
    INIT_SIGNAL_ALL,
    INIT_SEND_WR,
    INIT_RECV_WR,
    INIT_SEND_SGE,
    INIT_RECV_SGE,
    INIT_INLINE,
    INIT_INLINE_RECV,
    INIT_COUNT
};

/* Indexes of the int[] of QueuePairAttributes. */
enum {
    ATTR_STATE,
    ATTR_ACCESS_FLAGS,
    ATTR_PKEY_INDEX,
    ATTR_PORT,
    ATTR_QKEY,
    ATTR_PATH_MTU,
    ATTR_TIMEOUT,
    ATTR_RETRY_COUNT,
    ATTR_RNR_RETRY,
    ATTR_RQ_PSN,
    ATTR_MAX_QP_RD_ATOMIC,
    ATTR_MIN_RNR_TIMER,
    ATTR_SQ_PSN,
    ATTR_MAX_DEST_RD_ATOMIC,
    ATTR_DEST_QPN,
    ATTR_AV_LID,
    ATTR_AV_PORT,
    ATTR_AV_SERVICE_LEVEL,
    ATTR_AV_GLOBAL,
    ATTR_AV_GID_INDEX,
    ATTR_AV_HOP_LIMIT,
    ATTR_AV_TRAFFIC_CLASS,
    ATTR_COUNT
};

static void read_init(JNIEnv *env, jlong send_cq, jlong recv_cq, jlong srq, jintArray values,
                      struct ibv_qp_init_attr *init) {
    jint v[INIT_COUNT];
    (*env)->GetIntArrayRegion(env, values, 0, INIT_COUNT, v);
    memset(init, 0, sizeof(*init));
    init->send_cq = to_pointer(send_cq);
    init->recv_cq = to_pointer(recv_cq);
    init->srq = to_pointer(srq);
    init->qp_type = (enum ibv_qp_type) v[INIT_TYPE];
    init->sq_sig_all = v[INIT_SIGNAL_ALL];
    init->cap.max_send_wr = (uint32_t) v[INIT_SEND_WR];
    init->cap.max_recv_wr = (uint32_t) v[INIT_RECV_WR];
    init->cap.max_send_sge = (uint32_t) v[INIT_SEND_SGE];
    init->cap.max_recv_sge = (uint32_t) v[INIT_RECV_SGE];
    init->cap.max_inline_data = (uint32_t) v[INIT_INLINE];
}

/* Returns how many bytes of a received message travel in the completion: 0 where that cannot be asked for. */
static jint set_inline_receive(JNIEnv *env, const struct verbs_api *api, struct ibv_qp *qp, jintArray values) {
    jint wanted;
    (*env)->GetIntArrayRegion(env, values, INIT_INLINE_RECV, 1, &wanted);
    uint32_t bytes = (uint32_t) wanted;
    bool granted = wanted > 0 && api->ext_set_inline_recv != NULL && api->ext_set_inline_recv(qp, &bytes) == 0;
    return granted ? (jint) bytes : 0;
}

static void write_capabilities(JNIEnv *env, const struct verbs_api *api, struct ibv_qp *qp,
                               const struct ibv_qp_init_attr *init, jintArray values) {
    bool shares = init->srq != NULL; /* some providers do not clear what they ignore then */
    const jint v[] = { (jint) init->cap.max_send_wr, shares ? 0 : (jint) init->cap.max_recv_wr,
                       (jint) init->cap.max_send_sge, shares ? 0 : (jint) init->cap.max_recv_sge,
                       (jint) init->cap.max_inline_data, set_inline_receive(env, api, qp, values) };
    (*env)->SetIntArrayRegion(env, values, INIT_SEND_WR, INIT_COUNT - INIT_SEND_WR, v);
}

static jlong create(JNIEnv *env, jclass class, jlong api, jlong pd, jlong send_cq, jlong recv_cq, jlong srq,
                    jintArray values) {
    struct ibv_qp_init_attr init;
    read_init(env, send_cq, recv_cq, srq, values, &init);
    errno = 0;
    struct ibv_qp *qp = to_api(api)->ibv_create_qp(to_pointer(pd), &init);
    if (qp != NULL) {
        write_capabilities(env, to_api(api), qp, &init, values);
    }
    return created(qp);
}

static jlong create_with_id(JNIEnv *env, jclass class, jlong api, jlong id, jlong pd, jlong send_cq, jlong recv_cq,
                            jlong srq, jintArray values) {
    struct ibv_qp_init_attr init;
    read_init(env, send_cq, recv_cq, srq, values, &init);
    errno = 0;
    int error = to_errno(to_api(api)->rdma_create_qp(to_pointer(id), to_pointer(pd), &init));
    if (error != 0) {
        return -error;
    }
    struct ibv_qp *qp = ((struct rdma_cm_id *) to_pointer(id))->qp;
    write_capabilities(env, to_api(api), qp, &init, values);
    return to_long(qp);
}

static jint destroy(JNIEnv *env, jclass class, jlong api, jlong qp) {
    return to_errno(to_api(api)->ibv_destroy_qp(to_pointer(qp)));
}

static jint number(JNIEnv *env, jclass class, jlong qp) {
    return (jint) ((struct ibv_qp *) to_pointer(qp))->qp_num;
}

static jint state(JNIEnv *env, jclass class, jlong api, jlong qp) {
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    int error = to_errno(to_api(api)->ibv_query_qp(to_pointer(qp), &attr, IBV_QP_STATE, &init));
    return error != 0 ? -error : (jint) attr.qp_state;
}

/* Values in the order of the accessors of QueuePairInfo. */
static jint query(JNIEnv *env, jclass class, jlong api, jlong qp, jintArray values) {
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    memset(&attr, 0, sizeof(attr));
    int error = to_errno(to_api(api)->ibv_query_qp(to_pointer(qp), &attr,
                                            IBV_QP_STATE | IBV_QP_DEST_QPN | IBV_QP_PORT | IBV_QP_AV | IBV_QP_PATH_MTU |
                                                IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                                IBV_QP_MIN_RNR_TIMER | IBV_QP_CAP | IBV_QP_ACCESS_FLAGS |
                                                IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC,
                                            &init));
    if (error != 0) {
        return error;
    }
    bool global = attr.ah_attr.is_global != 0;
    const jint v[] = { (jint) attr.dest_qp_num, attr.port_num, global ? attr.ah_attr.grh.sgid_index : -1,
                       (jint) attr.path_mtu, global ? attr.ah_attr.grh.traffic_class : -1, attr.ah_attr.sl,
                       attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.min_rnr_timer,
                       (jint) attr.cap.max_send_wr, (jint) attr.cap.max_recv_wr, (jint) attr.cap.max_send_sge,
                       (jint) attr.cap.max_recv_sge, (jint) attr.cap.max_inline_data, (jint) attr.qp_state,
                       attr.max_rd_atomic, attr.max_dest_rd_atomic, (jint) attr.qp_access_flags };
    (*env)->SetIntArrayRegion(env, values, 0, sizeof(v) / sizeof(*v), v);
    return 0;
}

static jint modify(JNIEnv *env, jclass class, jlong api, jlong qp, jint mask, jintArray values, jbyteArray gid) {
    jint v[ATTR_COUNT];
    (*env)->GetIntArrayRegion(env, values, 0, ATTR_COUNT, v);
    struct ibv_qp_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.qp_state = (enum ibv_qp_state) v[ATTR_STATE];
    attr.qp_access_flags = (unsigned int) v[ATTR_ACCESS_FLAGS];
    attr.pkey_index = (uint16_t) v[ATTR_PKEY_INDEX];
    attr.port_num = (uint8_t) v[ATTR_PORT];
    attr.qkey = (uint32_t) v[ATTR_QKEY];
    attr.path_mtu = (enum ibv_mtu) v[ATTR_PATH_MTU];
    attr.timeout = (uint8_t) v[ATTR_TIMEOUT];
    attr.retry_cnt = (uint8_t) v[ATTR_RETRY_COUNT];
    attr.rnr_retry = (uint8_t) v[ATTR_RNR_RETRY];
    attr.rq_psn = (uint32_t) v[ATTR_RQ_PSN];
    attr.max_rd_atomic = (uint8_t) v[ATTR_MAX_QP_RD_ATOMIC];
    attr.min_rnr_timer = (uint8_t) v[ATTR_MIN_RNR_TIMER];
    attr.sq_psn = (uint32_t) v[ATTR_SQ_PSN];
    attr.max_dest_rd_atomic = (uint8_t) v[ATTR_MAX_DEST_RD_ATOMIC];
    attr.dest_qp_num = (uint32_t) v[ATTR_DEST_QPN];
    attr.ah_attr.dlid = (uint16_t) v[ATTR_AV_LID];
    attr.ah_attr.port_num = (uint8_t) v[ATTR_AV_PORT];
    attr.ah_attr.sl = (uint8_t) v[ATTR_AV_SERVICE_LEVEL];
    if (v[ATTR_AV_GLOBAL] != 0) {
        attr.ah_attr.is_global = 1;
        attr.ah_attr.grh.sgid_index = (uint8_t) v[ATTR_AV_GID_INDEX];
        attr.ah_attr.grh.hop_limit = (uint8_t) v[ATTR_AV_HOP_LIMIT];
        attr.ah_attr.grh.traffic_class = (uint8_t) v[ATTR_AV_TRAFFIC_CLASS];
        (*env)->GetByteArrayRegion(env, gid, 0, sizeof(attr.ah_attr.grh.dgid.raw),
                                   (jbyte *) attr.ah_attr.grh.dgid.raw);
    }
    return to_errno(to_api(api)->ibv_modify_qp(to_pointer(qp), &attr, mask));
}

static jint attach_multicast(JNIEnv *env, jclass class, jlong api, jlong qp, jbyteArray bytes, jint lid) {
    union ibv_gid gid;
    (*env)->GetByteArrayRegion(env, bytes, 0, sizeof(gid.raw), (jbyte *) gid.raw);
    errno = 0;
    return to_errno(to_api(api)->ibv_attach_mcast(to_pointer(qp), &gid, (uint16_t) lid));
}

static jint detach_multicast(JNIEnv *env, jclass class, jlong api, jlong qp, jbyteArray bytes, jint lid) {
    union ibv_gid gid;
    (*env)->GetByteArrayRegion(env, bytes, 0, sizeof(gid.raw), (jbyte *) gid.raw);
    errno = 0;
    return to_errno(to_api(api)->ibv_detach_mcast(to_pointer(qp), &gid, (uint16_t) lid));
}

static jlong post_send(JNIEnv *env, jclass class, jlong qp, jlong requests) {
    struct ibv_send_wr *bad = NULL;
    int result = ibv_post_send(to_pointer(qp), to_pointer(requests), &bad);
    if (result == 0) {
        return 0;
    }
    int count = 0;
    if (bad != NULL) {
        for (const struct ibv_send_wr *wr = to_pointer(requests); wr != NULL && wr != bad; wr = wr->next) {
            count++;
        }
    }
    return posted(count, to_errno(result));
}

static jlong post_receive(JNIEnv *env, jclass class, jlong qp, jlong requests) {
    struct ibv_recv_wr *bad = NULL;
    int result = ibv_post_recv(to_pointer(qp), to_pointer(requests), &bad);
    return result == 0 ? 0 : posted(count_posted(to_pointer(requests), bad), to_errno(result));
}

static jlong post_empty_receives(JNIEnv *env, jclass class, jlong qp, jlong wr_id, jint count) {
    struct ibv_recv_wr requests[EMPTY_RECEIVES];
    int done = 0;
    while (done < count) {
        int n = count - done < EMPTY_RECEIVES ? count - done : EMPTY_RECEIVES;
        for (int i = 0; i < n; i++) {
            requests[i] = (struct ibv_recv_wr) {
                .wr_id = (uint64_t) wr_id, .next = i + 1 < n ? &requests[i + 1] : NULL,
            };
        }
        struct ibv_recv_wr *bad = NULL;
        int result = ibv_post_recv(to_pointer(qp), requests, &bad);
        if (result != 0) {
            return posted(done + count_posted(requests, bad), to_errno(result));
        }
        done += n;
    }
    return 0;
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("create0", "(JJJJJ[I)J", create),
    JNI_METHOD("createWithId0", "(JJJJJJ[I)J", create_with_id),
    JNI_METHOD("destroy0", "(JJ)I", destroy),
    JNI_METHOD("number0", "(J)I", number),
    JNI_METHOD("state0", "(JJ)I", state),
    JNI_METHOD("query0", "(JJ[I)I", query),
    JNI_METHOD("modify0", "(JJI[I[B)I", modify),
    JNI_METHOD("attachMulticast0", "(JJ[BI)I", attach_multicast),
    JNI_METHOD("detachMulticast0", "(JJ[BI)I", detach_multicast),
    JNI_METHOD("postSend0", "(JJ)J", post_send),
    JNI_METHOD("postReceive0", "(JJ)J", post_receive),
    JNI_METHOD("postEmptyReceives0", "(JJI)J", post_empty_receives),
};
JNI_CLASS(jni_queue_pair, "verbs/QueuePair", methods);
