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
 * Queue pairs of ids. They are created with the completion queues that the caller leaves out. Their states change with
 * the attributes that the kernel's CM would give (cm_init_qp_{init,rtr,rts}_attr() in cm.c).
 */
#include "cm.h"
#include "embedded/base/cancel.h"
#include "embedded/device/ah.h"
#include "embedded/device/context.h"

#include <string.h>

#define DEFAULT_ACK_TIMEOUT 19 /* 4.096 us * 2^19 = 2.1 s, as soft-RoCE gets over RDMA CM */

void cm_fill_address(const struct cm_id *id, struct ibv_ah_attr *ah) {
    ah->dlid = DEVICE_LID; /* the device is an InfiniBand one */
    ah->port_num = id->id.port_num;
}

static int init_qp_attr(struct cm_id *id, struct ibv_qp_attr *attr, int *mask) {
    enum ibv_qp_state state = attr->qp_state;
    memset(attr, 0, sizeof(*attr));
    attr->qp_state = state;
    switch (state) {
        case IBV_QPS_INIT:
            attr->port_num = id->id.port_num;
            *mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
            if (id->id.qp_type == IBV_QPT_UD) {
                attr->qkey = RDMA_UDP_QKEY;
                *mask |= IBV_QP_QKEY;
            } else {
                if (id->conn != CM_CONN_NONE) {
                    attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
                    if (id->local.responder_resources != 0) {
                        attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
                    }
                }
                *mask |= IBV_QP_ACCESS_FLAGS;
            }
            return 0;
        case IBV_QPS_RTR:
            cm_fill_address(id, &attr->ah_attr);
            ah_set_link(&attr->ah_attr, id->link);
            attr->path_mtu = IBV_MTU_4096;
            attr->dest_qp_num = id->remote.qpn;
            attr->rq_psn = id->remote.psn;
            attr->max_dest_rd_atomic = id->local.responder_resources;
            attr->min_rnr_timer = 0; /* 655 ms, which the kernel's CM asks for */
            *mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
            if (id->id.qp_type == IBV_QPT_RC || id->id.qp_type == IBV_QPT_XRC_RECV) {
                *mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
            }
            return 0;
        case IBV_QPS_RTS:
            attr->sq_psn = id->local.psn;
            attr->timeout = id->ack_timeout_set ? id->ack_timeout : DEFAULT_ACK_TIMEOUT;
            attr->retry_cnt = id->passive ? id->remote.retry_count : id->local.retry_count;
            /* rdma_connect(3): each side sets how often the other side retries */
            attr->rnr_retry = id->remote.rnr_retry_count;
            attr->max_rd_atomic = id->local.initiator_depth;
            *mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
            if (id->id.qp_type == IBV_QPT_XRC_RECV) { /* XRC targets send nothing */
                *mask |= IBV_QP_TIMEOUT;
            } else if (id->id.qp_type != IBV_QPT_UC) {
                *mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
            }
            return 0;
        default:
            return EINVAL;
    }
}

int embedded_rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask) {
    UNCANCELLED;
    if (cm_is_inherited(cm_of(id))) {
        return cm_result(EIO);
    }
    pthread_mutex_lock(&cm_lock); /* the peer may reject or leave at this moment */
    int err = init_qp_attr(cm_of(id), attr, mask);
    pthread_mutex_unlock(&cm_lock);
    return cm_result(err);
}

static int move(struct cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state) {
    struct ibv_qp_attr attr = { .qp_state = state };
    int mask;
    if (embedded_rdma_init_qp_attr(&id->id, &attr, &mask) != 0) {
        return errno;
    }
    return embedded_ibv_modify_qp(qp, &attr, mask);
}

struct ibv_qp *cm_use_qp(struct cm_id *id) {
    pthread_mutex_lock(&cm_lock);
    struct ibv_qp *qp = id->id.qp;
    if (qp != NULL) {
        id->qp_users++;
    }
    pthread_mutex_unlock(&cm_lock);
    return qp;
}

void cm_release_qp(struct cm_id *id, const struct ibv_qp *qp) {
    if (qp == NULL) {
        return;
    }
    pthread_mutex_lock(&cm_lock);
    id->qp_users--;
    pthread_cond_broadcast(&id->released);
    pthread_mutex_unlock(&cm_lock);
}

int cm_qp_connect(struct cm_id *id, struct ibv_qp *qp) {
    int err = move(id, qp, IBV_QPS_INIT);
    if (err == 0) {
        err = move(id, qp, IBV_QPS_RTR);
    }
    return err != 0 ? err : move(id, qp, IBV_QPS_RTS);
}

int cm_qp_error(struct cm_id *id) {
    struct ibv_qp *qp = cm_use_qp(id);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    int err = qp == NULL ? 0 : embedded_ibv_modify_qp(qp, &attr, IBV_QP_STATE);
    cm_release_qp(id, qp);
    return err;
}

/* ---- creation ---- */

void cm_destroy_cqs(struct rdma_cm_id *id) {
    if (id->qp_type == IBV_QPT_XRC_RECV && id->srq != NULL) {
        return; /* receives of XRC complete on these queues, which are destroyed with the shared receive queue */
    }
    /* Users put one queue, or one channel, in both places (rsockets does). */
    if (id->send_cq != NULL && id->send_cq != id->recv_cq) {
        embedded_ibv_destroy_cq(id->send_cq);
    }
    if (id->recv_cq != NULL) {
        embedded_ibv_destroy_cq(id->recv_cq);
    }
    if (id->send_cq_channel != NULL && id->send_cq_channel != id->recv_cq_channel) {
        embedded_ibv_destroy_comp_channel(id->send_cq_channel);
    }
    if (id->recv_cq_channel != NULL) {
        embedded_ibv_destroy_comp_channel(id->recv_cq_channel);
    }
    id->send_cq = id->recv_cq = NULL;
    id->send_cq_channel = id->recv_cq_channel = NULL;
}

static bool create_cq(struct rdma_cm_id *id, uint32_t size, struct ibv_comp_channel **channel, struct ibv_cq **cq) {
    if (size == 0) {
        return true;
    }
    *channel = embedded_ibv_create_comp_channel(id->verbs);
    if (*channel == NULL) {
        return false;
    }
    *cq = embedded_ibv_create_cq(id->verbs, (int) size, id, *channel, 0);
    return *cq != NULL;
}

int cm_create_srq_cq(struct rdma_cm_id *id, uint32_t size) {
    if (id->recv_cq != NULL && (uint32_t) id->recv_cq->cqe < size) {
        cm_destroy_cqs(id); /* the queues were made with the queue pair, which does not use them */
    }
    errno = 0;
    if (id->recv_cq == NULL && !create_cq(id, size, &id->recv_cq_channel, &id->recv_cq)) {
        int err = errno != 0 ? errno : ENOMEM;
        cm_destroy_cqs(id);
        return err;
    }
    return 0;
}

static int init_qp(struct cm_id *id, struct ibv_qp *qp) {
    int err = move(id, qp, IBV_QPS_INIT);
    if (err == 0 && id->id.qp_type == IBV_QPT_UD) {
        struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
        err = embedded_ibv_modify_qp(qp, &attr, IBV_QP_STATE);
        attr.qp_state = IBV_QPS_RTS;
        if (err == 0) {
            err = embedded_ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
        }
    }
    return err;
}

/* Calls the function of the extended context, as applications do, because only programs have it (embedded/programs). */
static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr) {
    struct verbs_context *extended = verbs_get_ctx_op(context, create_qp_ex);
    if (extended == NULL) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return extended->create_qp_ex(context, attr);
}

/* Makes a target queue pair. Without a domain from the caller, it gets the connection manager's, as in librdmacm. */
static struct ibv_qp *create_target(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
                                    struct ibv_qp_init_attr_ex *extended) {
    struct ibv_qp_init_attr_ex own;
    if (extended == NULL) {
        memset(&own, 0, sizeof(own));
        memcpy(&own, attr, sizeof(*attr));
        extended = &own;
    }
    extended->comp_mask |= IBV_QP_INIT_ATTR_PD;
    extended->pd = pd;
    if ((extended->comp_mask & IBV_QP_INIT_ATTR_XRCD) == 0 || extended->xrcd == NULL) {
        extended->xrcd = cm_device_xrcd();
        extended->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
    }
    struct ibv_qp *qp = extended->xrcd == NULL ? NULL : create_qp_ex(id->verbs, extended);
    if (extended == &own) {
        memcpy(attr, &own, sizeof(*attr));
    }
    return qp;
}

/* Makes a queue pair. `extended` is NULL, or the struct that begins with `attr`. */
static int create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
                     struct ibv_qp_init_attr_ex *extended) {
    if (cm_is_inherited(cm_of(id))) {
        return cm_result(EIO);
    }
    if (pd == NULL) {
        pd = id->pd;
    }
    if (id->qp != NULL || pd == NULL || id->verbs != pd->context
            || (id->recv_cq != NULL && attr->recv_cq != NULL && id->recv_cq != attr->recv_cq)
            || (id->send_cq != NULL && attr->send_cq != NULL && id->send_cq != attr->send_cq)) {
        return cm_result(EINVAL);
    }
    uint32_t receives = attr->recv_cq != NULL || id->recv_cq != NULL ? 0 : attr->cap.max_recv_wr;
    uint32_t sends = attr->send_cq != NULL || id->send_cq != NULL ? 0 : attr->cap.max_send_wr;
    struct ibv_qp *qp = NULL;
    int err;
    errno = 0;
    if (create_cq(id, receives, &id->recv_cq_channel, &id->recv_cq)
            && create_cq(id, sends, &id->send_cq_channel, &id->send_cq)) {
        if (attr->send_cq == NULL) {
            attr->send_cq = id->send_cq;
        }
        if (attr->recv_cq == NULL) {
            attr->recv_cq = id->recv_cq;
        }
        if (id->srq != NULL && attr->srq == NULL) {
            attr->srq = id->srq;
        }
        if (id->qp_type == IBV_QPT_XRC_RECV) {
            qp = create_target(id, pd, attr, extended);
        } else if (extended == NULL) {
            qp = embedded_ibv_create_qp(pd, attr);
        } else {
            extended->comp_mask |= IBV_QP_INIT_ATTR_PD;
            extended->pd = pd;
            qp = create_qp_ex(id->verbs, extended);
        }
    }
    if (qp == NULL) {
        err = errno != 0 ? errno : ENOMEM;
    } else {
        err = init_qp(cm_of(id), qp);
        if (err == 0) {
            id->pd = pd;
            pthread_mutex_lock(&cm_lock);
            id->qp = qp;
            pthread_mutex_unlock(&cm_lock);
            return 0;
        }
        embedded_ibv_destroy_qp(qp);
    }
    cm_destroy_cqs(id);
    return cm_result(err);
}

int embedded_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr) {
    UNCANCELLED;
    return create_qp(id, pd, attr, NULL);
}

int embedded_rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr) {
    UNCANCELLED;
    struct ibv_pd *pd = (attr->comp_mask & IBV_QP_INIT_ATTR_PD) != 0 ? attr->pd : NULL;
    return create_qp(id, pd, (struct ibv_qp_init_attr *) attr, attr);
}

void embedded_rdma_destroy_qp(struct rdma_cm_id *public_id) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    pthread_mutex_lock(&cm_lock);
    struct ibv_qp *qp = public_id->qp;
    public_id->qp = NULL; /* no other thread uses it from here on */
    while (id->qp_users > 0 && !cm_is_inherited(id)) { /* the parent's threads are not here */
        pthread_cond_wait(&id->released, &cm_lock);
    }
    pthread_mutex_unlock(&cm_lock);
    embedded_ibv_destroy_qp(qp);
    cm_destroy_cqs(public_id);
}
