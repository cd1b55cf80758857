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
 * Functions of librdmacm beyond verbs_api.h that unmodified programs use: synchronous endpoints (rdma_create_ep(3)),
 * connections whose queue pair is moved by the user (rdma_establish(3)), and shared receive queues of an id
 * (rdma_create_srq(3)).
 */
#include "embedded/base/cancel.h"
#include "embedded/cm/cm.h"
#include "programs.h"
#include "xrcd.h"

#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

static int make_passive(struct cm_id *id, struct rdma_addrinfo *info, struct ibv_pd *pd,
                        const struct ibv_qp_init_attr *attr) {
    if (embedded_rdma_bind_addr(&id->id, info->ai_src_addr) != 0) {
        return -1;
    }
    if (pd != NULL) {
        id->id.pd = pd;
    }
    if (attr != NULL) {
        id->qp_init_attr = malloc(sizeof(*attr));
        if (id->qp_init_attr == NULL) {
            return cm_result(ENOMEM);
        }
        *id->qp_init_attr = *attr;
        id->qp_init_attr->qp_type = (enum ibv_qp_type) info->ai_qp_type;
    }
    return 0;
}

static int make_active(struct cm_id *id, struct rdma_addrinfo *info, struct ibv_pd *pd, struct ibv_qp_init_attr *attr) {
    if (embedded_rdma_resolve_addr(&id->id, info->ai_src_addr, info->ai_dst_addr, 2000) != 0
            || embedded_rdma_resolve_route(&id->id, 2000) != 0) {
        return -1;
    }
    if (attr != NULL) {
        attr->qp_type = (enum ibv_qp_type) info->ai_qp_type;
        if (embedded_rdma_create_qp(&id->id, pd, attr) != 0) {
            return -1;
        }
    }
    return 0;
}

int embedded_rdma_create_ep(struct rdma_cm_id **result, struct rdma_addrinfo *info, struct ibv_pd *pd,
                            struct ibv_qp_init_attr *attr) {
    struct rdma_cm_id *id;
    if (cm_create_id(NULL, &id, NULL, (enum rdma_port_space) info->ai_port_space,
                     (enum ibv_qp_type) info->ai_qp_type) != 0) {
        return -1;
    }
    int status = (info->ai_flags & RAI_PASSIVE) != 0 ? make_passive(cm_of(id), info, pd, attr)
                                                     : make_active(cm_of(id), info, pd, attr);
    if (status != 0) {
        int err = errno;
        embedded_rdma_destroy_ep(id);
        return cm_result(err);
    }
    *result = id;
    return 0;
}

void embedded_rdma_destroy_ep(struct rdma_cm_id *id) {
    UNCANCELLED;
    if (id->qp != NULL) {
        embedded_rdma_destroy_qp(id);
    }
    if (id->srq != NULL) {
        embedded_rdma_destroy_srq(id);
    }
    embedded_rdma_destroy_id(id);
}

int embedded_rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **result) {
    struct cm_id *listener = cm_of(listen);
    struct rdma_cm_event *event;
    if (cm_is_inherited(listener) || !listener->sync) {
        return cm_result(cm_is_inherited(listener) ? EIO : EINVAL);
    }
    if (listen->event != NULL) {
        embedded_rdma_ack_cm_event(listen->event);
        listen->event = NULL;
    }
    if (embedded_rdma_get_cm_event(listen->channel, &event) != 0) {
        return -1;
    }
    int err = 0;
    if (event->status != 0) {
        err = event->status < 0 ? -event->status : ECONNREFUSED;
    } else if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
        err = EINVAL;
    } else if (listener->qp_init_attr != NULL) {
        struct ibv_qp_init_attr attr = *listener->qp_init_attr;
        err = embedded_rdma_create_qp(event->id, listen->pd, &attr) == 0 ? 0 : errno;
        if (err != 0) { /* only this call knows the request; librdmacm 44 leaves it, and the peer to its time-out */
            struct rdma_cm_id *request = event->id;
            embedded_rdma_ack_cm_event(event);
            embedded_rdma_destroy_id(request);
            return cm_result(err);
        }
    }
    if (err != 0) {
        listen->event = event;
        return cm_result(err);
    }
    *result = event->id;
    (*result)->event = event;
    return 0;
}

int embedded_rdma_establish(struct rdma_cm_id *public_id) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    if (cm_is_inherited(id) || id->id.qp != NULL) {
        return cm_result(cm_is_inherited(id) ? EIO : EINVAL);
    }
    pthread_mutex_lock(&cm_lock);
    int err = id->conn == CM_CONN_REP_RCVD ? 0 : EINVAL;
    if (err == 0) {
        cm_send_plain(id, CM_RTU);
        id->conn = CM_CONN_ESTABLISHED;
    }
    pthread_mutex_unlock(&cm_lock);
    return cm_result(err);
}

/* Completes XRC attributes that the caller leaves out. Returns 0 or errno. */
static int complete_xrc(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr) {
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) == 0 || attr->xrcd == NULL) {
        attr->xrcd = cm_device_xrcd();
        if (attr->xrcd == NULL) {
            return errno;
        }
    }
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) == 0 || attr->cq == NULL) {
        int err = attr->attr.max_wr == 0 ? EINVAL : cm_create_srq_cq(id, attr->attr.max_wr);
        if (err != 0) {
            return err;
        }
        attr->cq = id->recv_cq;
    }
    attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
    return 0;
}

int embedded_rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr) {
    UNCANCELLED;
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0) {
        return cm_result(EINVAL);
    }
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || attr->pd == NULL) {
        attr->pd = id->pd;
        attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
    }
    if (id->srq != NULL || attr->pd == NULL || id->verbs != attr->pd->context) {
        return cm_result(EINVAL);
    }
    int err = attr->srq_type == IBV_SRQT_XRC ? complete_xrc(id, attr) : 0;
    struct ibv_srq *srq = err != 0 ? NULL : srq_create_ex(id->verbs, attr);
    if (srq == NULL) {
        err = err != 0 ? err : errno;
        if (attr->srq_type == IBV_SRQT_XRC && id->qp == NULL) {
            cm_destroy_cqs(id);
        }
        return cm_result(err);
    }
    if (id->pd == NULL) {
        id->pd = attr->pd;
    }
    id->srq = srq;
    return 0;
}

int embedded_rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr) {
    struct ibv_srq_init_attr_ex extended;
    memset(&extended, 0, sizeof(extended));
    memcpy(&extended, attr, sizeof(*attr)); /* the struct begins with the members of the plain one */
    extended.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
    extended.srq_type = id->qp_type == IBV_QPT_XRC_RECV ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
    extended.pd = pd;
    int result = embedded_rdma_create_srq_ex(id, &extended);
    memcpy(attr, &extended, sizeof(*attr));
    return result;
}

void embedded_rdma_destroy_srq(struct rdma_cm_id *id) {
    UNCANCELLED;
    if (embedded_ibv_destroy_srq(id->srq) != 0) {
        return; /* the queue still exists, because a queue pair uses it */
    }
    id->srq = NULL;
    if (id->qp_type == IBV_QPT_XRC_RECV) {
        cm_destroy_cqs(id);
    }
}
