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
 * Links: AF_UNIX SOCK_SEQPACKET connections to peer processes, each shared by many queue pairs and CM connections. A
 * link carries small typed messages with file descriptors; its end-of-file means that the peer process died, or
 * that nothing on the peer's side has used the link for some seconds.
 *
 * Links are found by the name they lead to (a port or a block of queue pair numbers), not by process: two copies of
 * this library in one process, and processes in different pid namespaces, then need no special case. A pair of
 * processes has a few links, never one per queue pair.
 *
 * Names can be guessed, and any user may bind them first. The connection manager needs the name of a port only: queue
 * pairs that it connects meet over the link on which it has exchanged their numbers. So a process without a name for
 * its numbers is reached all the same, but not by a peer that knows nothing but a number.
 *
 * A process may also have a link to itself: nothing above this layer distinguishes that case.
 *
 * Every process is reachable under abstract socket names that contain the uid, so that other users' processes never
 * meet; SO_PEERCRED is checked as well. The names are removed by the kernel when the process dies, and are scoped by
 * network namespace as the kernel's RDMA CM ports are.
 *
 * With a folder (folder.h), names are sockets in the folder instead: processes that use the same folder meet, whatever
 * their network namespaces are, if each may be a peer to the other (trust.h). A port still belongs to a network
 * namespace, whose identity is in its name, so that two namespaces can have the same port; the other names belong to
 * the folder. Names that killed processes have left are taken over, and removed when another process starts.
 *
 * Threads: link_send() and the connects from any thread; handlers run on the engine thread. A handler is given a link
 * that is valid during the call; keep it with link_get()/link_put().
 */
#ifndef NETTY_RDMA_EMBEDDED_LINK_H
#define NETTY_RDMA_EMBEDDED_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct link;

/*
 * Timeouts after which a link is closed that has no references, or that a peer made without a greeting: 5 s. Written by
 * tests only.
 */
extern _Atomic uint64_t link_idle_timeout_ns, link_hello_timeout_ns;

/*
 * The version of everything that processes tell each other: all messages on links, and the layout of shared memory. It
 * is in the first message on each link, in both directions, and a link to a process of another version ends with that,
 * so that nothing else of it is ever read. Raise the version with each change of either: scripts/versions finds one of
 * a layout. The makefile builds a library of another version, for tests.
 */
#ifndef LINK_VERSION
#define LINK_VERSION 9 /* of layouts 585f9267e36b */
#endif
extern _Atomic uint32_t link_version; /* LINK_VERSION. Written by tests only. */

/*
 * Bytes that may wait for all peers together: 64 MiB, or a 32nd of the memory that this process can have if that is
 * less (memory_limit.h). Written by tests only.
 */
extern _Atomic uint64_t link_queue_limit;

#define LINK_MAX_BODY 2048 /* bytes of one message */
#define LINK_MAX_FDS 4     /* descriptors of one message */

enum link_message_type {
    LINK_HELLO = 1, /* internal to link.c */
    LINK_QP_FIRST = 16, /* 16..31: queue pairs, see wire.h */
    LINK_CM_FIRST = 32, /* 32..55: connection manager, see cm_wire.h */
    LINK_MCAST_FIRST = 56, /* 56..63: subnet administrator, see mcast.c */
    LINK_MESSAGE_LIMIT = 64,
};

struct link_message {
    const void *body; /* a private copy, aligned for any type */
    size_t length;
    int *fds; /* CLOEXEC; the handler sets an entry to -1 to keep it, the rest is closed after its return */
    int nfds;
};

/* Returns the body of a message without descriptors; NULL for one with descriptors, or with another length. */
const void *link_body(const struct link_message *message, size_t size);

/*
 * Handles one message. Returns false if the message is malformed: the link is then closed, as after a peer's death.
 */
typedef bool (*link_handler)(struct link *link, const struct link_message *incoming);

/*
 * Called once, on the engine thread, for a link that went down: the peer died, or one side broke the protocol. Every
 * message that came before has been handled.
 */
typedef void (*link_down_handler)(struct link *link);

/* Registration of handlers, once, before the first link: init.c. */
void link_init(void);
void link_set_handler(unsigned type, link_handler handler);

/*
 * The handler is called in place of the other one, without descriptors, if this process has no room for them, so that
 * the peer need not wait for an answer. Without such a handler the message is lost.
 */
void link_set_lost_handler(unsigned type, link_handler handler);
void link_add_down_handler(link_down_handler handler);

/*
 * Finds or makes the link to the process that owns a queue pair number, for queue pairs connected without the CM.
 * Non-blocking beyond an AF_UNIX connect(). On success *link carries a reference. Returns 0 or an errno value:
 * ECONNREFUSED = no such process, or the number has no name, EAGAIN = its backlog is full, try again.
 */
int link_connect_qpn(uint32_t qpn, struct link **link);

/* Limit of queue pair numbers with a name: they are below this. */
#define LINK_UNNAMED_QPN 0x800000u

/*
 * Claims a block of 256 queue pair numbers for this process and returns the first of them, never 0, or 0 with errno.
 * Numbers with a name are unique on the host, and the kernel frees the name when the process dies. EADDRNOTAVAIL: other
 * processes hold most names. Numbers without a name are unique in this process, and nobody else can hold them.
 */
uint32_t link_claim_qpn_block(bool with_name);

/*
 * Makes this process reachable as (port space, port). Returns 0 and a handle for link_unbind_port(), or an errno value:
 * EADDRINUSE, a process that could be a peer has the port; EACCES, a process of another user holds its name, which any
 * may bind (unix(7), abstract names). Port 0 is not accepted here.
 */
struct link_port;
int link_bind_port(int port_space, uint16_t port, struct link_port **handle);

/* Port space of services that exist once for all processes that can meet, not once for each network namespace. */
#define LINK_COMMON 0x5a

/*
 * Gives back the blocks of queue pair numbers and ends all links, as the end of the process would. Called on the engine
 * thread, when nothing here uses links, and no other thread makes any.
 */
void link_rest(void);

/* Makes the port unreachable. Links made over it stay, except those not yet accepted by the engine: these go down. */
void link_unbind_port(struct link_port *handle);

/*
 * Finds or makes a link as link_connect_qpn() does, to the process that has bound (port space, port). Links are
 * remembered by port, so the process may have given the port up since: when it says so, call link_forget(), so that the
 * next call meets the present owner. `fresh` makes a new link in any case.
 */
int link_connect_port(int port_space, uint16_t port, bool fresh, struct link **link);

/* Identity of a network namespace (namespaces(7)): the file that stands for it. */
struct link_network {
    uint64_t device, inode;
};

/* Connects as link_connect_port() does, to a port of another network namespace. */
int link_connect_port_in(const struct link_network *network, int port_space, uint16_t port, bool fresh,
                         struct link **link);

/* Returns whether names are in a folder, which other network namespaces may share. */
bool link_uses_folder(void);

/*
 * Finds the other network namespaces in which a process listens at the port, or did when it was killed: writes up to
 * `limit` and returns their number, or 0 and errno, which is 0 if there are none.
 */
unsigned link_find_networks(int port_space, uint16_t port, struct link_network *networks, unsigned limit);

/* Hides the link: no connect finds it any more; those that have a reference can go on using it. */
void link_forget(struct link *link);

/*
 * Returns the number of the link: not 0, and never another link's in this process; it means nothing in other processes.
 */
uint64_t link_number(const struct link *link);

/* Returns the link of this number, whichever side made it, with a reference; or NULL if it is down. */
struct link *link_find(uint64_t number);

/*
 * Sends or queues a message; messages of one link stay in order. The descriptors are duplicated. Never blocks. Returns
 * 0 or an errno value: EPIPE = the link is down, EINVAL = too long, ENOMEM or EMFILE = cannot queue it. A peer that
 * lets more queue up than link_queue_limit leaves to it, or 4 MiB on one link, is treated as dead. A peer that made the
 * link must take some of the queue before anything more is read from it: link_io.c.
 */
int link_send(struct link *link, unsigned type, const void *body, size_t length, const int *fds, int nfds);

/*
 * Has messages without descriptors that the calling thread sends on this link wait for link_release(), so that those of
 * one step go by one system call, and wake the peer once. A message with descriptors, or of another thread, does not
 * wait, nor do those before it. A thread holds one link at a time.
 */
void link_hold(struct link *link);
void link_release(struct link *link);

/*
 * Sends a message without descriptors with the next message, or within some milliseconds. The result is that of
 * link_send().
 */
int link_send_later(struct link *link, unsigned type, const void *body, size_t length);

/* Returns whether messages are queued here that the peer could not take yet. */
bool link_is_behind(struct link *link);

/* Closes a link whose peer misbehaves; its down handlers run on the engine thread. */
void link_abort(struct link *link);

bool link_is_up(struct link *link);

/* Returns whether the peer has said that it is of another LINK_VERSION, with which the link goes down. */
bool link_is_of_another_version(const struct link *link);

/*
 * The peer's process as the kernel vouches for it (unix(7), SO_PEERCRED). If its pid namespace is not visible here
 * `pid` is 0, and `process` tells two such peers apart where the kernel can (Linux 6.9, pidfds with an inode of their
 * own). A peer of this user and PID namespace is not defended against beyond the limits for a process: it could stop
 * this one with kill(2), or use ptrace(2). All other peers can use only what they are lent and send.
 */
struct link_peer {
    uid_t uid;
    pid_t pid;
    uint64_t process;
    bool may_signal;
};
const struct link_peer *link_peer(const struct link *link);

static inline bool link_peer_is(const struct link_peer *a, const struct link_peer *b) {
    return a->uid == b->uid && a->pid == b->pid && a->process == b->process;
}

/*
 * Returns whether two processes count together against a limit: those that may not signal this one count by user, as a
 * user can have any number of them.
 */
bool link_peers_share_limits(const struct link_peer *a, const struct link_peer *b);

/* Returns a number other than 0, the same for peers that share limits. */
uint64_t link_peer_number(const struct link_peer *peer);

/*
 * References. Keep one to expect messages on a link, or to learn of its peer's death: the side that connected closes a
 * link that has had no references for some seconds.
 */
struct link *link_get(struct link *link);
void link_put(struct link *link);

/*
 * Counts what a peer makes this process keep, in sum over all links to its process (processes that cannot be told apart
 * count as one, and so do all of a user that may not signal this one). Returns false if the sum would be more than
 * `limit` of the kind, or the link is down. Each charge needs its discharge, of as many, also after the link went down:
 * until then it counts.
 */
enum link_kept {
    LINK_KEPT_VIEW,
    LINK_KEPT_VIEW_BYTES,
    LINK_KEPT_DOORBELLS,
    LINK_KEPT_BORROWED,     /* internal to lending.c */
    LINK_KEPT_LINKS,        /* internal to link.c */
    LINK_KEPT_CHANNELS,     /* internal to process.c */
    LINK_KEPT_QUEUED_BYTES, /* internal to link_io.c, as the next one */
    LINK_KEPT_QUEUED_FDS,
    LINK_KEPT_ARENA_FDS,    /* internal to arena.c */
    LINK_KEPT_KINDS
};
bool link_charge(struct link *link, enum link_kept kind, uint64_t count, uint64_t limit);
/* The same, where `limit` is of all processes, and each gets what leaves as much to others: account.h. */
bool link_charge_share(struct link *link, enum link_kept kind, uint64_t count, uint64_t limit);
void link_discharge(struct link *link, enum link_kept kind, uint64_t count);

/*
 * Pointers of per-link data, one for each user of the links (queue pairs, CM); set and read under the user's own lock.
 */
enum link_slot { LINK_SLOT_QP, LINK_SLOT_CM, LINK_SLOTS };
void *link_slot(struct link *link, enum link_slot slot);
void link_set_slot(struct link *link, enum link_slot slot, void *value);

#endif
