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
 * The connection manager's messages on links: the contents of the InfiniBand CM's MADs (IBA specification volume 1,
 * 12.6) that matter between two processes of one host. Host byte order, except addresses and ports.
 */
#ifndef NETTY_RDMA_EMBEDDED_CM_WIRE_H
#define NETTY_RDMA_EMBEDDED_CM_WIRE_H

#include "embedded/link/link.h"

#include <stdint.h>

/* Messages. With UD a REQ is a SIDR_REQ, REP and REJ are SIDR_REPs (IBA 12.11), and nothing follows them. */
enum cm_message {
    CM_REQ = LINK_CM_FIRST,
    CM_REP,
    CM_RTU,
    CM_REJ,
    CM_DREQ,
    CM_DREP,
    CM_ASK,
    CM_ANSWER,
};

/* Sizes of the user's data: 92 bytes of a REQ less the RDMA CM's own header of 36; all of a REP; all of a REJ. */
#define CM_REQ_DATA 56
#define CM_REP_DATA 196
#define CM_REJ_DATA 148

/* Sizes of the user's data with UD: 216 bytes of a SIDR_REQ less the header; all of a SIDR_REP. */
#define CM_SIDR_REQ_DATA 180
#define CM_SIDR_REP_DATA 136

/* Rejection reasons: IBA 12.6.7.2, table 107. */
enum cm_reject_reason {
    CM_REJ_NO_RESOURCES = 3, /* too many requests wait here: the sender tries again, and never tells the user */
    CM_REJ_TIMEOUT = 4,
    CM_REJ_INVALID_COMM_ID = 6,
    CM_REJ_INVALID_SERVICE_ID = 8, /* nobody listens */
    CM_REJ_STALE_CONN = 10,
    CM_REJ_CONSUMER = 28,
    CM_REJ_VERSION = 31, /* "invalid class version": the process is of another LINK_VERSION; never sent */
};

/* Status of a SIDR_REP, in place of a reason: IBA 12.11.2.2, table 125. */
enum cm_sidr_status {
    CM_SIDR_UNSUPPORTED = 1, /* nobody listens */
    CM_SIDR_REJECT = 2,
    CM_SIDR_VERSION = 5, /* "unsupported version", as CM_REJ_VERSION */
};

struct cm_wire_address {
    uint16_t family; /* AF_INET or AF_INET6 */
    uint16_t port;   /* network order */
    uint32_t scope;
    uint8_t bytes[16];
};

/* Data of the queue pair in a REQ or REP. */
struct cm_wire_endpoint {
    uint32_t qpn;
    uint32_t psn;
    uint8_t responder_resources;
    uint8_t initiator_depth;
    uint8_t flow_control;
    uint8_t retry_count; /* REQ only */
    uint8_t rnr_retry_count;
    uint8_t srq;
    uint8_t data_length; /* length of the user's data; the rest of `data` is zero */
    uint8_t xrc;         /* REQ only: 1 if it is for a target queue pair */
};

/* Handles of the connection: `from` is the sender's, `to` the receiver's, 0 where it is not known. */
struct cm_wire_ids {
    uint32_t from;
    uint32_t to;
};

struct cm_wire_req {
    struct cm_wire_ids ids;
    uint32_t port_space;
    struct cm_wire_address source, destination;
    struct cm_wire_endpoint endpoint;
    uint8_t data[CM_SIDR_REQ_DATA]; /* RC: CM_REQ_DATA */
};

struct cm_wire_rep {
    struct cm_wire_ids ids;
    struct cm_wire_endpoint endpoint;
    uint8_t data[CM_REP_DATA];
};

struct cm_wire_rej {
    struct cm_wire_ids ids;
    uint32_t reason;
    uint8_t data[CM_REJ_DATA];
};

/*
 * Question, with a folder (link.h), whether an address belongs to the receiver's network namespace, from a client of
 * another one that looks for it; and the answer.
 */
struct cm_wire_ask {
    uint32_t from;
    struct cm_wire_address address;
};

struct cm_wire_answer {
    uint32_t to;
    uint32_t here; /* 1: yes, 0: no */
};

struct cm_wire_plain { /* RTU, DREQ, DREP */
    struct cm_wire_ids ids;
};

#endif
