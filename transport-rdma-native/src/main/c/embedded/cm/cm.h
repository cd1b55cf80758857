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
 * The RDMA connection manager, whose functions for applications are those of embedded.h.
 *
 * Each file uses only files of lower lines:
 *
 *   cm_peer.c     messages from peers, death of peers
 *   cm_conn.c     connect, accept, reject, disconnect
 *   cm_resolve.c  bind, listen, resolve             cm_mcast.c  multicast groups
 *   cm_ask.c      which network namespace has an address
 *   cm_fetch.c    fetching events, as librdmacm does
 *   cm_id.c       the life of an id, its options
 *   cm_send.c     messages to peers, timers
 *   cm_qp.c       queue pairs of ids, their states  cm_port.c   ports of ids
 *   cm_event.c    event channels and events
 *   cm_device.c   the device that all ids share     cm_address.c  addresses and their parts
 *
 * Behaviour follows librdmacm 44 and the kernel's drivers/infiniband/core/{cma,cm,ucma}.c. Work that librdmacm does
 * when an event is fetched (moving the queue pair, sending the RTU) is also done then.
 *
 * One lock guards everything, because this is the control path. It is taken before any lock of the links and of the
 * engine, and never held while a queue pair function runs.
 */
#ifndef NETTY_RDMA_EMBEDDED_CM_H
#define NETTY_RDMA_EMBEDDED_CM_H

#include "cm_wire.h"
#include "embedded/base/container_of.h"
#include "embedded/base/fork.h"
#include "embedded/embedded.h"
#include "embedded/groups/mcast.h"
#include "embedded/link/engine.h"
#include "embedded/link/link.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Events that an id has in reserve, for the end of a request and the end of a connection. The peer causes these events.
 * So without memory no call could return ENOMEM, and a program that waits for the event would wait for ever.
 */
#define CM_SPARE_EVENTS 2

/* States of an id, as rdma_cm_state in the kernel. */
enum cm_state {
    CM_IDLE,
    CM_ADDR_BOUND,
    CM_ADDR_QUERY,
    CM_ADDR_RESOLVED,
    CM_ROUTE_RESOLVED,
    CM_LISTEN,
    CM_CONNECT,
    CM_DISCONNECT,
};

/* States of a connection, as ib_cm_state in the kernel. */
enum cm_conn_state {
    CM_CONN_NONE, /* never tried */
    CM_CONN_IDLE, /* tried, and over without timewait */
    CM_CONN_REQ_SENT,
    CM_CONN_REQ_RCVD,
    CM_CONN_REP_SENT,
    CM_CONN_REP_RCVD,
    CM_CONN_ESTABLISHED,
    CM_CONN_DREQ_SENT,
    CM_CONN_DREQ_RCVD,
    CM_CONN_TIMEWAIT,
};

/* Time for which the kernel's answers about this host, its addresses and its range of ports, are reused. */
#define CM_KNOWN_NS UINT64_C(100000000)

struct cm_port;
struct cm_id;
struct cm_question;

struct cm_multicast {
    struct cm_multicast *next;
    struct cm_id *id;
    struct sockaddr_storage address;
    uint16_t lid;
    bool send_only;
    struct mcast_member member; /* the id's queue pair, until the event is fetched */
    struct cm_event *event;     /* event to post when the member has joined; NULL: already posted */
    bool attached; /* written by the thread that fetches events, and by the thread that leaves */
    void *context;
    unsigned fetched, acked; /* events; guarded by cm_lock */
};

/* Number of requests that wait at a listener to be fetched, from peers with one number (link_peer_number()); not 0. */
struct cm_pending {
    struct cm_pending *next;
    uint64_t peer;
    int count;
};

struct cm_event {
    struct rdma_cm_event event;
    uint8_t data[CM_REP_DATA]; /* private data, of the longest size */
    struct cm_id *owner; /* id whose destruction waits for the ack: for a CONNECT_REQUEST the listening id */
    struct cm_pending *pending; /* counter of the owner for a CONNECT_REQUEST that is not fetched */
    struct cm_multicast *multicast; /* membership whose leaving waits for the ack as well; NULL: none */
    /* Handler of RDMA_CM_EVENT_MULTICAST_JOIN, on the thread that fetches it. */
    void (*process)(struct cm_event *event);
    struct cm_event *next;
    unsigned generation;
};

struct cm_id {
    struct rdma_cm_id id;

    /*
     * Debian 12's librdmacm.so (44.0) contains rsockets, which under LD_PRELOAD runs on these ids and reads its own
     * struct cma_id_private behind the public part: up to `sync` the layout is fixed. cma_dev stays NULL.
     */
    void *cma_dev;
    void *connect;
    size_t connect_len;
    int events_acked;
    int connect_error; /* a CONNECT_ERROR was reported: its consequences are not reported again */
    int sync;          /* the id has a channel of its own, and calls wait for their event */

    int events_fetched;
    int qp_users; /* number of calls that use the queue pair, for which rdma_destroy_qp() waits */
    pthread_cond_t released; /* signalled when an event was acknowledged, or the queue pair is not used any more */
    unsigned generation; /* fork_generation at the creation, here and below */

    uint32_t handle;
    enum cm_state state;
    enum cm_conn_state conn;
    bool destroyed; /* the id is no longer found; callbacks leave it alone */

    bool reuse_address, family_only, family_only_set, ack_timeout_set;
    uint8_t type_of_service, ack_timeout;

    struct cm_port *port;
    struct cm_id *port_next;

    int backlog, backlog_of_peer; /* requests that may still be queued; requests that may be queued of one peer */
    struct cm_pending *pending;   /* number of pending requests by peers */
    struct ibv_qp_init_attr *qp_init_attr; /* attributes for the ids that rdma_get_request() will return */

    struct cm_question *question; /* question under way in CM_ADDR_QUERY */
    struct link_network network;  /* network namespace of the destination; 0: the own one */
    bool passive;
    struct link *link;
    struct cm_id *link_next, *link_previous; /* other ids of the link */
    struct cm_id *qpn_next;                  /* other ids whose peers' queue pair numbers have the same hash */
    uint32_t remote_handle; /* 0: unknown */
    struct cm_wire_endpoint local, remote;
    struct engine_timer timer; /* timer for the next step of the state */
    uint64_t tried_since_ns;
    bool asked_anew; /* the process that has the port was looked up anew */
    struct cm_wire_req request; /* request, kept while it may have to be sent again */
    struct cm_multicast *multicasts;
    struct cm_event *spares[CM_SPARE_EVENTS]; /* events in reserve; NULL: in use */
};

struct cm_channel {
    struct rdma_event_channel channel;
    struct cm_event *first, *last; /* queue of events; the eventfd's count is 1 while there are any */
    unsigned generation;
};

static inline struct cm_channel *cm_channel_of(struct rdma_event_channel *channel) {
    return container_of(channel, struct cm_channel, channel);
}

extern pthread_mutex_t cm_lock;

/*
 * Timeouts for an answer of a peer that lives but is silent (60 s), and for a listener to appear (10 ms, because a
 * server may be about to bind again). Written by tests only.
 */
extern uint64_t cm_response_timeout_ns, cm_grace_ns;

static inline bool cm_is_datagram(const struct cm_id *id) {
    return id->id.qp_type == IBV_QPT_UD;
}

static inline struct cm_id *cm_of(struct rdma_cm_id *id) {
    return container_of(id, struct cm_id, id);
}

/* Returns whether a fork has copied the id from the parent. Calls fail with EIO. */
static inline bool cm_is_inherited(const struct cm_id *id) {
    return id->generation != fork_generation;
}

/* Sets errno from a positive value; returns 0 for 0, else -1. */
static inline int cm_result(int err) {
    if (err != 0) {
        errno = err;
        return -1;
    }
    return 0;
}

/* cm_peer.c */
void cm_init(void);

/* cm_event.c */
struct cm_event *cm_new_event(struct cm_id *id, enum rdma_cm_event_type type, int status); /* NULL: no memory */
/*
 * Makes an event that must not be lost. Called with cm_lock held. NULL: there is no memory, and the spare events are in
 * use because the application does not fetch events.
 */
struct cm_event *cm_new_sure_event(struct cm_id *id, enum rdma_cm_event_type type, int status);
/* Called with cm_lock held; an owner that has used a spare event keeps this one instead. */
void cm_free_event(struct cm_event *event);
void cm_set_event_data(struct cm_event *event, const void *data, size_t length, size_t delivered_length);
void cm_set_event_endpoint(struct cm_event *event, const struct cm_wire_endpoint *remote);
void cm_post_event(struct cm_event *event); /* called with cm_lock held */
/* Prevents further events of joining, and drops an event that was not fetched. Called without cm_lock. */
void cm_end_joining(struct cm_multicast *multicast);
/*
 * Drops the unfetched events of an id. Returns the ids of dropped requests, chained by port_next. Called with cm_lock
 * held.
 */
struct cm_id *cm_drop_events(struct cm_channel *channel, struct cm_id *owner);
void cm_move_events(struct cm_id *id, struct cm_channel *to); /* moves the unfetched events; called with cm_lock held */
/*
 * Returns the number of unfetched requests at the listener from the link's peer, and from peers that share its limits
 * (link.h). Requests that the peer has given up count as well. Called with cm_lock held.
 */
int cm_pending_requests(const struct cm_id *listener, const struct link *link);
bool cm_count_request(struct cm_event *event, const struct link *link); /* called with cm_lock held; false: no memory */
/* Called with cm_lock held; does nothing if the event was not counted. */
void cm_uncount_request(struct cm_event *event);
/* Returns the next event, or NULL; called without cm_lock. */
struct cm_event *cm_fetch_event(struct cm_channel *channel);
bool cm_channel_is_inherited(const struct rdma_event_channel *channel);

/* cm_fetch.c */
/* Waits, in synchronous mode, for the id's next event and returns its status as 0 or -1 and errno. */
int cm_complete(struct cm_id *id);

/* cm_id.c */
struct cm_id *cm_new_id(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                        enum ibv_qp_type qp_type); /* NULL: errno; a NULL channel makes one of its own */
int cm_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context, enum rdma_port_space ps,
                 enum ibv_qp_type qp_type);
void cm_free_id(struct cm_id *id);          /* called when nothing leads to the id */
bool cm_register(struct cm_id *id);         /* gives the id its handle; false: no memory; called with cm_lock held */
struct cm_id *cm_find(uint32_t handle);     /* called with cm_lock held */
void cm_id_init(void);

/* cm_port.c, all called with cm_lock held. Errors are errno values. */
int cm_port_bind(struct cm_id *id, bool reachable); /* binds to the port in src_addr; 0 there chooses one */
int cm_port_listen(struct cm_id *id);
void cm_port_unbind(struct cm_id *id);
struct cm_id *cm_port_listener(int port_space, const struct cm_wire_address *destination);
void cm_port_forget(void); /* forgets all ports, in a forked child */
/* Returns whether an id listens at the port (in network order), at any address. */
bool cm_port_is_listened(int port_space, uint16_t number);

/* cm_address.c */
size_t cm_address_size(const struct sockaddr *address); /* 0: family not supported */
/* Copies an address without its scope, except a link-local one, as the kernel does (getsockname() of TCP). */
void cm_address_copy(struct sockaddr_storage *to, const struct sockaddr *address);
bool cm_address_is_any(const struct sockaddr *address);
bool cm_address_is_group(const struct sockaddr *address);
bool cm_address_is_loopback(const struct sockaddr *address);
bool cm_address_equal(const struct sockaddr *a, const struct sockaddr *b); /* compares without ports */
uint16_t *cm_address_port(struct sockaddr *address); /* returns the port in network order */
/*
 * Checks that a socket of this host may have the address, which must not be a broadcast address. Returns 0 or errno.
 * The result is reused for a moment, because a server's many connections have the same address. An address that goes
 * meanwhile does not matter: the connection could also have been made just before.
 */
int cm_address_check_local(const struct sockaddr *address);
/* Returns whether this network namespace would send packets for the address to itself. Not for groups. */
bool cm_address_leads_here(const struct sockaddr *address);
/* Finds the source address of packets for the destination, with port 0: 0 or errno. */
int cm_address_route(const struct sockaddr *destination, struct sockaddr_storage *source);
void cm_address_to_wire(const struct sockaddr *address, struct cm_wire_address *wire);
bool cm_address_from_wire(const struct cm_wire_address *wire, struct sockaddr_storage *address);

/* cm_device.c */
void cm_device_init(void);
/* Opens the device that all ids share at the first call: 0 or errno. Afterwards cm_attach_device() cannot fail. */
int cm_open_device(void);
void cm_attach_device(struct cm_id *id);
struct ibv_xrcd *cm_device_xrcd(void); /* returns the domain of all ids that name none; NULL: errno */
const struct ibv_device_attr *cm_device_attr(void);

/* cm_qp.c: errors are errno values, but of public functions of librdmacm that are not in verbs_api.h */
int embedded_rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask);
int embedded_rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr);
/*
 * Returns the queue pair of an id, or NULL if the id has none (any more). No other thread can destroy it before
 * cm_release_qp(). That is needed because a program may give up a connect on one thread while another thread fetches
 * its event.
 */
struct ibv_qp *cm_use_qp(struct cm_id *id);
void cm_release_qp(struct cm_id *id, const struct ibv_qp *qp); /* NULL: none was used */
int cm_qp_connect(struct cm_id *id, struct ibv_qp *qp); /* goes to INIT again with the final access flags, RTR, RTS */
int cm_qp_error(struct cm_id *id);
/* Replaces the completion queue of an id's shared receive queue of XRC, which is too small. 0 or errno */
int cm_create_srq_cq(struct rdma_cm_id *id, uint32_t size);
/* Destroys the completion queues that were made for the id, unless a shared receive queue of XRC uses them. */
void cm_destroy_cqs(struct rdma_cm_id *id);
void cm_fill_address(const struct cm_id *id, struct ibv_ah_attr *ah); /* fills the address of any peer */

/* cm_ask.c */
extern _Atomic uint64_t cm_ask_grace_ns; /* 100 ms. Written by tests only. */
#define CM_MAX_ASKED 64 /* limit of other namespaces with the destination's port. Each may have a listener at it. */
struct cm_networks {
    struct link_network networks[CM_MAX_ASKED];
    unsigned count;
};
/*
 * Finds the namespaces in which a process listens at the port of the destination. Not called with cm_lock held: reads
 * the folder. 0 or errno: ENODEV.
 */
int cm_find_networks(const struct cm_id *id, const struct sockaddr *destination, struct cm_networks *found);
/*
 * Asks the listeners in these namespaces which of them has the address, for `patience_ns` at most. Called with cm_lock
 * held. Returns errno if there is no listener to ask. Else returns 0, and `done` is called later on the engine thread
 * with the lock held. `done` gets 0 and the network namespace, or errno: ENODEV if none has the address, ENOTUNIQ if
 * several have it, ETIMEDOUT if one gave no answer and no other has it, EPROTONOSUPPORT if one is of another
 * LINK_VERSION.
 */
typedef void (*cm_answered)(struct cm_id *id, int err, const struct link_network *network);
int cm_ask(struct cm_id *id, const struct sockaddr *destination, const struct cm_networks *networks,
           uint64_t patience_ns, cm_answered done);
void cm_stop_asking(struct cm_id *id);
void cm_forget_questions(void); /* called in a forked child */
void cm_ask_init(void);

/* cm_send.c, called with cm_lock held */
void cm_attach(struct cm_id *id, struct link *link); /* takes the reference over */
int cm_send_request(struct cm_id *id); /* returns 0, also if it will be sent again; or errno, with nothing done */
int cm_send_reply(struct cm_id *id, const struct cm_wire_rep *reply);
void cm_send_datagram_reply(struct cm_id *id, const struct cm_wire_rep *reply);
void cm_send_plain(struct cm_id *id, enum cm_message type);
void cm_send_reject(struct cm_id *id, enum cm_reject_reason reason, const void *data, size_t length);
void cm_detach(struct cm_id *id); /* detaches the id from its link */
/* Holds the link of the id, if it has one: link_hold(). */
struct link *cm_hold_link(struct cm_id *id);
void cm_release_link(struct link *link); /* called without cm_lock; the link may be NULL */
void cm_enter_timewait(struct cm_id *id);
void cm_end(struct cm_id *id); /* does the connection's part of destroying an id */
void cm_forget_connections(void); /* called in a forked child */
/* Returns whether the queue pair is in another connection, which the peer has forgotten: IBA 12.9.8.3.1 */
bool cm_is_stale(struct link *link, uint32_t qpn);
/* Send to ids of the peer to which no id here belongs. */
void cm_send_plain_on(struct link *link, enum cm_message type, uint32_t from, uint32_t to);
void cm_send_reject_on(struct link *link, uint32_t from, uint32_t to, enum cm_reject_reason reason, const void *data,
                       size_t length);
/* Post events of the connection. */
void cm_post(struct cm_id *id, enum rdma_cm_event_type type, int status, const void *data, size_t length);
void cm_post_rejected(struct cm_id *id, int reason, const uint8_t *data);
void cm_post_disconnected(struct cm_id *id, int status); /* posts once in the life of an id, whichever side begins */
void cm_retry_request(struct cm_id *id); /* sends again in a moment, because there is no listener (any more) */

#endif
