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
 * The verbs and RDMA CM functions that this library calls, behind a table for each provider.
 *
 * There are two providers: libibverbs + librdmacm, and the embedded provider. The former are found by dlopen, so that
 * this library loads where they are not installed. A process may use both providers, but must pass an object only to
 * functions of its own provider, because both do container_of() on the public structs. So the holder of an object also
 * keeps its table, in Java in VerbsObject.
 *
 * The functions of the hot path (ibv_poll_cq, ibv_req_notify_cq, ibv_post_send, ibv_post_recv, ibv_post_srq_recv) are
 * not in the table. In <infiniband/verbs.h> they are static inlines that call through ibv_context->ops, which both
 * providers fill.
 */
#ifndef NETTY_RDMA_VERBS_API_H
#define NETTY_RDMA_VERBS_API_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

/*
 * Macros of verbs.h that reference exported symbols of libibverbs, which would give this library a hard dependency on
 * it.
 */
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/*
 * F(return type, name, arguments): one line per function, with exactly the signature of the public symbol.
 * ibv_query_port has the signature of the exported symbol: it fills the older, shorter struct (verbs.h:
 * _compat_ibv_port_attr).
 */
#define VERBS_API_IBVERBS(F)                                                                                          \
    F(struct ibv_device **, ibv_get_device_list, (int *num_devices))                                                  \
    F(void, ibv_free_device_list, (struct ibv_device **list))                                                         \
    F(const char *, ibv_get_device_name, (struct ibv_device *device))                                                 \
    F(struct ibv_context *, ibv_open_device, (struct ibv_device *device))                                             \
    F(int, ibv_close_device, (struct ibv_context *context))                                                           \
    F(int, ibv_query_device, (struct ibv_context *context, struct ibv_device_attr *attr))                             \
    F(int, ibv_query_port, (struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr))           \
    F(int, ibv_query_gid, (struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid))                 \
    F(int, ibv_query_pkey, (struct ibv_context *context, uint8_t port, int index, __be16 *pkey))                      \
    F(struct ibv_pd *, ibv_alloc_pd, (struct ibv_context *context))                                                   \
    F(int, ibv_dealloc_pd, (struct ibv_pd *pd))                                                                       \
    F(struct ibv_mr *, ibv_reg_mr, (struct ibv_pd *pd, void *addr, size_t length, int access))                        \
    F(int, ibv_dereg_mr, (struct ibv_mr *mr))                                                                         \
    F(struct ibv_comp_channel *, ibv_create_comp_channel, (struct ibv_context *context))                              \
    F(int, ibv_destroy_comp_channel, (struct ibv_comp_channel *channel))                                              \
    F(struct ibv_cq *, ibv_create_cq, (struct ibv_context *context, int cqe, void *cq_context,                        \
                                       struct ibv_comp_channel *channel, int comp_vector))                            \
    F(int, ibv_destroy_cq, (struct ibv_cq *cq))                                                                       \
    F(int, ibv_get_cq_event, (struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context))               \
    F(void, ibv_ack_cq_events, (struct ibv_cq *cq, unsigned int nevents))                                             \
    F(struct ibv_qp *, ibv_create_qp, (struct ibv_pd *pd, struct ibv_qp_init_attr *attr))                             \
    F(int, ibv_modify_qp, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask))                               \
    F(int, ibv_query_qp, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,                                 \
                          struct ibv_qp_init_attr *init_attr))                                                        \
    F(int, ibv_destroy_qp, (struct ibv_qp *qp))                                                                       \
    F(struct ibv_srq *, ibv_create_srq, (struct ibv_pd *pd, struct ibv_srq_init_attr *attr))                          \
    F(int, ibv_modify_srq, (struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask))                           \
    F(int, ibv_query_srq, (struct ibv_srq *srq, struct ibv_srq_attr *attr))                                           \
    F(int, ibv_destroy_srq, (struct ibv_srq *srq))                                                                    \
    F(struct ibv_ah *, ibv_create_ah, (struct ibv_pd *pd, struct ibv_ah_attr *attr))                                  \
    F(int, ibv_destroy_ah, (struct ibv_ah *ah))                                                                       \
    F(int, ibv_init_ah_from_wc, (struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh,   \
                                 struct ibv_ah_attr *attr))                                                           \
    F(struct ibv_ah *, ibv_create_ah_from_wc, (struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,             \
                                               uint8_t port))                                                         \
    F(int, ibv_attach_mcast, (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid))                             \
    F(int, ibv_detach_mcast, (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid))                             \
    F(int, ibv_get_async_event, (struct ibv_context *context, struct ibv_async_event *event))                         \
    F(void, ibv_ack_async_event, (struct ibv_async_event *event))

#define VERBS_API_RDMACM(F)                                                                                           \
    F(struct ibv_context **, rdma_get_devices, (int *count))                                                          \
    F(void, rdma_free_devices, (struct ibv_context **list))                                                           \
    F(struct rdma_event_channel *, rdma_create_event_channel, (void))                                                 \
    F(void, rdma_destroy_event_channel, (struct rdma_event_channel *channel))                                         \
    F(int, rdma_create_id, (struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,                \
                            enum rdma_port_space ps))                                                                 \
    F(int, rdma_destroy_id, (struct rdma_cm_id *id))                                                                  \
    F(int, rdma_bind_addr, (struct rdma_cm_id *id, struct sockaddr *addr))                                            \
    F(int, rdma_listen, (struct rdma_cm_id *id, int backlog))                                                         \
    F(int, rdma_resolve_addr, (struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int timeout_ms))    \
    F(int, rdma_resolve_route, (struct rdma_cm_id *id, int timeout_ms))                                               \
    F(int, rdma_create_qp, (struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr))                 \
    F(void, rdma_destroy_qp, (struct rdma_cm_id *id))                                                                 \
    F(int, rdma_connect, (struct rdma_cm_id *id, struct rdma_conn_param *param))                                      \
    F(int, rdma_accept, (struct rdma_cm_id *id, struct rdma_conn_param *param))                                       \
    F(int, rdma_reject, (struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len))                  \
    F(int, rdma_disconnect, (struct rdma_cm_id *id))                                                                  \
    F(int, rdma_migrate_id, (struct rdma_cm_id *id, struct rdma_event_channel *channel))                              \
    F(int, rdma_set_option, (struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen))             \
    F(int, rdma_get_cm_event, (struct rdma_event_channel *channel, struct rdma_cm_event **event))                     \
    F(int, rdma_ack_cm_event, (struct rdma_cm_event *event))                                                          \
    F(int, rdma_join_multicast, (struct rdma_cm_id *id, struct sockaddr *addr, void *context))                        \
    F(int, rdma_join_multicast_ex, (struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr, void *context))      \
    F(int, rdma_leave_multicast, (struct rdma_cm_id *id, struct sockaddr *addr))                                      \
    F(uint16_t, rdma_get_src_port, (struct rdma_cm_id *id))                                                           \
    F(uint16_t, rdma_get_dst_port, (struct rdma_cm_id *id))

/*
 * Functions of libibverbs that are NULL where it is too old: _ibv_query_gid_ex came with rdma-core 32,
 * ibv_reg_dmabuf_mr with 34.
 */
#define VERBS_API_OPTIONAL(F)                                                                                         \
    F(int, _ibv_query_gid_ex, (struct ibv_context *context, uint32_t port, uint32_t index,                            \
                               struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size))                       \
    F(struct ibv_mr *, ibv_reg_dmabuf_mr, (struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,  \
                                           int access))

/* States of the process at the other end of a connection: see ext_peer_is. */
enum ext_peer_state { EXT_PEER_LATE, EXT_PEER_AWAKE };

/*
 * Functions of the embedded provider alone, NULL with the libraries.
 *
 * Inline receive: a message of few bytes, or the answer to a READ or an atomic, travels in its completion.
 * ibv_poll_cq() copies it to the memory of the receive or the request. Adapters have inline receive, but public verbs
 * can neither ask for it nor tell the granted size: docs/providers.md.
 *
 * ext_set_inline_recv: asks for *bytes, and sets *bytes to the granted number. Returns 0 or errno, EINVAL in RTR and
 * later states, and if a receive is posted.
 *
 * ext_take_events: takes and acknowledges all events of the channel. Never blocks, even without O_NONBLOCK, which peers
 * that have the descriptor may change. *contexts becomes the bitwise or of the contexts (cq_context) of the completion
 * queues that had events. Returns 0 or errno.
 *
 * ext_takes_edges: returns whether ext_take_events leaves the descriptor readable, so that the caller has to watch it
 * edge-triggered: see EPOLLET in epoll(7).
 *
 * ext_peer_is: returns whether the peer process of a connection that was busy lately is in this state. Only the thread
 * that polls may call it.
 *   EXT_PEER_LATE: the peer has not taken what was sent to it, because it has no processor, or other work. No longer
 *                  true after some 100 calls in which the peer has taken nothing.
 *   EXT_PEER_AWAKE: the thread that takes the peer's completions does not wait for a completion event.
 *
 * ext_rnr_naks: returns how many messages of the queue pairs of this process have found no receive at the peer. For
 * adapters the kernel has this counter for each port, as rnr_nak_retry_err.
 *
 * ext_peer: returns a number for the peer process of a connection request, or for its user if that is another user.
 * Returns 0 if the process has gone. Limits for a peer count by this number.
 */
#define VERBS_API_EXTENSIONS(F)                                                                                       \
    F(uint32_t, ext_max_inline_recv, (struct ibv_context *context))                                                   \
    F(int, ext_set_inline_recv, (struct ibv_qp *qp, uint32_t *bytes))                                                 \
    F(int, ext_take_events, (struct ibv_comp_channel *channel, uint64_t *contexts))                                   \
    F(bool, ext_takes_edges, (struct ibv_comp_channel *channel))                                                      \
    F(bool, ext_peer_is, (struct ibv_cq *cq, enum ext_peer_state state))                                              \
    F(uint64_t, ext_rnr_naks, (struct ibv_context *context))                                                          \
    F(uint64_t, ext_peer, (struct rdma_cm_id *id))

struct verbs_api {
#define VERBS_API_FIELD(ret, name, args) ret(*name) args;
    VERBS_API_IBVERBS(VERBS_API_FIELD)
    VERBS_API_RDMACM(VERBS_API_FIELD)
    VERBS_API_OPTIONAL(VERBS_API_FIELD)
    VERBS_API_EXTENSIONS(VERBS_API_FIELD)
#undef VERBS_API_FIELD
};

enum verbs_provider {
    VERBS_PROVIDER_IBVERBS = 0,
    VERBS_PROVIDER_EMBEDDED = 1,
};

/*
 * Returns the table of a provider, which does not change until the process ends. Returns NULL on failure. `reason` then
 * says, for a person, which library or symbol is missing, or which setting is wrong. It ends with NUL. The next call
 * looks again for a missing library or symbol. Any thread.
 */
const struct verbs_api *verbs_api_get(enum verbs_provider provider, char *reason, size_t reason_size);

#endif
