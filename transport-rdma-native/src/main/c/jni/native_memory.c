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
/* Natives of NativeMemory: the struct layout that Java relies on, addresses, error texts. */
#include "jni_util.h"

#include <stddef.h>
#include <string.h>

/* Values that Java has as constants, beside those that layout() reports. */
_Static_assert(IBV_WR_RDMA_WRITE == 0 && IBV_WR_RDMA_WRITE_WITH_IMM == 1 && IBV_WR_SEND == 2
                   && IBV_WR_SEND_WITH_IMM == 3 && IBV_WR_RDMA_READ == 4 && IBV_WR_ATOMIC_CMP_AND_SWP == 5
                   && IBV_WR_ATOMIC_FETCH_AND_ADD == 6 && IBV_WR_LOCAL_INV == 7 && IBV_WR_BIND_MW == 8
                   && IBV_WR_SEND_WITH_INV == 9,
               "SendWorkRequests");
_Static_assert(IBV_SEND_FENCE == 1 && IBV_SEND_SIGNALED == 2 && IBV_SEND_SOLICITED == 4 && IBV_SEND_INLINE == 8,
               "SendFlags");
_Static_assert(IBV_ACCESS_LOCAL_WRITE == 1 && IBV_ACCESS_REMOTE_WRITE == 2 && IBV_ACCESS_REMOTE_READ == 4
                   && IBV_ACCESS_REMOTE_ATOMIC == 8 && IBV_ACCESS_MW_BIND == 16,
               "AccessFlags");
_Static_assert(IBV_WC_RECV == 128 && IBV_WC_RECV_RDMA_WITH_IMM == 129 && IBV_WC_COMP_SWAP == 3
                   && IBV_WC_FETCH_ADD == 4 && IBV_WC_BIND_MW == 5 && IBV_WC_LOCAL_INV == 6, "WorkCompletionOpcode");
_Static_assert(IBV_WC_GRH == 1 && IBV_WC_WITH_IMM == 2 && IBV_WC_IP_CSUM_OK == 4 && IBV_WC_WITH_INV == 8,
               "WorkCompletions");
_Static_assert(IBV_DEVICE_MEM_MGT_EXTENSIONS == 1 << 21 && IBV_DEVICE_MEM_WINDOW_TYPE_2A == 1 << 23
                   && IBV_DEVICE_MEM_WINDOW_TYPE_2B == 1 << 24, "DeviceAttributes");
_Static_assert(IBV_WC_LOC_PROT_ERR == 4 && IBV_WC_WR_FLUSH_ERR == 5 && IBV_WC_RNR_RETRY_EXC_ERR == 13
                   && IBV_WC_GENERAL_ERR == 21,
               "WorkCompletionStatus");
_Static_assert(IBV_ATOMIC_NONE == 0 && IBV_ATOMIC_HCA == 1 && IBV_ATOMIC_GLOB == 2, "AtomicCapability");
_Static_assert(IBV_EVENT_DEVICE_FATAL == 8 && IBV_EVENT_SRQ_LIMIT_REACHED == 15 && IBV_EVENT_QP_LAST_WQE_REACHED == 16,
               "AsyncEvent");
_Static_assert(IBV_QPS_RESET == 0 && IBV_QPS_RTS == 3 && IBV_QPS_ERR == 6, "QueuePairState");
_Static_assert(IBV_QPT_RC == 2 && IBV_QPT_UD == 4, "QueuePairType");
_Static_assert(RDMA_PS_TCP == 0x0106 && RDMA_PS_UDP == 0x0111, "PortSpace");
_Static_assert(RDMA_CM_EVENT_ADDR_RESOLVED == 0 && RDMA_CM_EVENT_CONNECT_REQUEST == 4
                   && RDMA_CM_EVENT_ESTABLISHED == 9 && RDMA_CM_EVENT_TIMEWAIT_EXIT == 15,
               "ConnectionEventType");
_Static_assert(EBADF == 9 && EAGAIN == 11 && ENOMEM == 12 && EACCES == 13 && EFAULT == 14 && EBUSY == 16
                   && ENODEV == 19 && EINVAL == 22 && EMFILE == 24 && ENOSYS == 38 && ENODATA == 61 && EOPNOTSUPP == 95
                   && EADDRINUSE == 98 && EADDRNOTAVAIL == 99 && ECONNRESET == 104 && ETIMEDOUT == 110
                   && ECONNREFUSED == 111, "Errno");

static jintArray layout(JNIEnv *env, jclass class) {
#define FIELD(type, field) (jint) offsetof(struct type, field)
    static const jint values[] = {
        sizeof(struct ibv_sge), FIELD(ibv_sge, addr), FIELD(ibv_sge, length), FIELD(ibv_sge, lkey),
        sizeof(struct ibv_send_wr), FIELD(ibv_send_wr, wr_id), FIELD(ibv_send_wr, next), FIELD(ibv_send_wr, sg_list),
        FIELD(ibv_send_wr, num_sge), FIELD(ibv_send_wr, opcode), FIELD(ibv_send_wr, send_flags),
        FIELD(ibv_send_wr, imm_data), FIELD(ibv_send_wr, wr.rdma.remote_addr), FIELD(ibv_send_wr, wr.rdma.rkey),
        FIELD(ibv_send_wr, wr.atomic.remote_addr), FIELD(ibv_send_wr, wr.atomic.compare_add),
        FIELD(ibv_send_wr, wr.atomic.swap), FIELD(ibv_send_wr, wr.atomic.rkey), FIELD(ibv_send_wr, wr.ud.ah),
        FIELD(ibv_send_wr, wr.ud.remote_qpn), FIELD(ibv_send_wr, wr.ud.remote_qkey),
        FIELD(ibv_send_wr, invalidate_rkey), FIELD(ibv_send_wr, bind_mw.mw), FIELD(ibv_send_wr, bind_mw.rkey),
        FIELD(ibv_send_wr, bind_mw.bind_info.mr), FIELD(ibv_send_wr, bind_mw.bind_info.addr),
        FIELD(ibv_send_wr, bind_mw.bind_info.length), FIELD(ibv_send_wr, bind_mw.bind_info.mw_access_flags),
        sizeof(struct ibv_recv_wr), FIELD(ibv_recv_wr, wr_id), FIELD(ibv_recv_wr, next), FIELD(ibv_recv_wr, sg_list),
        FIELD(ibv_recv_wr, num_sge),
        sizeof(struct ibv_wc), FIELD(ibv_wc, wr_id), FIELD(ibv_wc, status), FIELD(ibv_wc, opcode),
        FIELD(ibv_wc, vendor_err), FIELD(ibv_wc, byte_len), FIELD(ibv_wc, imm_data),
        FIELD(ibv_wc, invalidated_rkey), FIELD(ibv_wc, qp_num), FIELD(ibv_wc, wc_flags), FIELD(ibv_wc, src_qp),
        FIELD(ibv_wc, slid), FIELD(ibv_wc, sl),
    };
#undef FIELD
    const jsize count = sizeof(values) / sizeof(*values);
    jintArray array = (*env)->NewIntArray(env, count);
    if (array != NULL) {
        (*env)->SetIntArrayRegion(env, array, 0, count, values);
    }
    return array;
}

static jlong address(JNIEnv *env, jclass class, jobject buffer) {
    return to_long((*env)->GetDirectBufferAddress(env, buffer));
}

static jstring error_text(JNIEnv *env, jclass class, jint error) {
    char text[256];
    return (*env)->NewStringUTF(env, strerror_r(error, text, sizeof(text)));
}

static const JNINativeMethod methods[] = {
    JNI_METHOD("layout0", "()[I", layout),
    JNI_METHOD("address0", "(Ljava/nio/ByteBuffer;)J", address),
    JNI_METHOD("errorText0", "(I)Ljava/lang/String;", error_text),
};
JNI_CLASS(jni_native_memory, "verbs/NativeMemory", methods);
