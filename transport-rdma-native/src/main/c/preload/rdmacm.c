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
 * Public names of librdmacm beside those in verbs_api.h and forward.c: events of queue pairs, and address information.
 *
 * Other names are pure functions (rdma_event_str) or rsockets. They are Debian's on purpose, and call the names defined
 * here.
 */
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event) {
    (void) id;
    (void) event; /* IBV_EVENT_COMM_EST stands in for a lost RTU, but links lose nothing */
    return 0;
}

/* ---- rdma_getaddrinfo(3): getaddrinfo(3) with the types translated ---- */

static int copy_address(struct sockaddr **to, socklen_t *to_length, const struct sockaddr *from, socklen_t length) {
    *to = malloc(length);
    if (*to == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(*to, from, length);
    *to_length = length;
    return 0;
}

static int look_up(const char *node, const char *service, const struct rdma_addrinfo *hints,
                   struct rdma_addrinfo *info) {
    bool passive = (hints->ai_flags & RAI_PASSIVE) != 0;
    bool datagram = hints->ai_qp_type == IBV_QPT_UD || hints->ai_port_space == RDMA_PS_UDP;
    struct addrinfo plain = {
        .ai_flags = (passive ? AI_PASSIVE : 0) | ((hints->ai_flags & RAI_NUMERICHOST) != 0 ? AI_NUMERICHOST : 0),
        .ai_family = hints->ai_family,
        .ai_socktype = datagram ? SOCK_DGRAM : SOCK_STREAM,
    };
    struct addrinfo *found;
    int status = getaddrinfo(node, service, &plain, &found);
    if (status != 0) {
        return status;
    }
    info->ai_flags = hints->ai_flags & RAI_PASSIVE;
    info->ai_family = found->ai_family;
    info->ai_qp_type = hints->ai_qp_type != 0 ? hints->ai_qp_type : datagram ? IBV_QPT_UD : IBV_QPT_RC;
    info->ai_port_space = hints->ai_port_space != 0 ? hints->ai_port_space : datagram ? RDMA_PS_UDP : RDMA_PS_TCP;
    status = passive ? copy_address(&info->ai_src_addr, &info->ai_src_len, found->ai_addr, found->ai_addrlen)
                     : copy_address(&info->ai_dst_addr, &info->ai_dst_len, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return status;
}

EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *info) {
    while (info != NULL) {
        struct rdma_addrinfo *next = info->ai_next;
        free(info->ai_src_addr);
        free(info->ai_dst_addr);
        free(info);
        info = next;
    }
}

EXPORT int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
                            struct rdma_addrinfo **result) {
    static const struct rdma_addrinfo none;
    if (node == NULL && service == NULL && hints == NULL) {
        errno = EINVAL;
        return -1;
    }
    struct rdma_addrinfo *info = calloc(1, sizeof(*info));
    if (info == NULL) {
        errno = ENOMEM;
        return -1;
    }
    if (hints == NULL) {
        hints = &none;
    }
    int status = 0;
    if (node != NULL || service != NULL) {
        status = look_up(node, service, hints, info);
    } else {
        info->ai_flags = hints->ai_flags;
        info->ai_family = hints->ai_family;
        info->ai_qp_type = hints->ai_qp_type;
        info->ai_port_space = hints->ai_port_space;
        if (hints->ai_dst_len != 0) {
            status = copy_address(&info->ai_dst_addr, &info->ai_dst_len, hints->ai_dst_addr, hints->ai_dst_len);
        }
    }
    if (status == 0 && info->ai_src_len == 0 && hints->ai_src_len != 0) {
        status = copy_address(&info->ai_src_addr, &info->ai_src_len, hints->ai_src_addr, hints->ai_src_len);
    }
    if (status != 0) {
        rdma_freeaddrinfo(info);
        return status;
    }
    *result = info;
    return 0;
}
