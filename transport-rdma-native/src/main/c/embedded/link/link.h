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
 * link carries small typed messages with file descriptors. Its end-of-file means that the peer process died, or
 * that nothing on the peer's side has used the link for some seconds.
 *
 * Links are found by the name to which they lead (a port or a block of queue pair numbers), not by process. So two
 * copies of this library in one process, and processes in different pid namespaces, are no special cases. A pair of
 * processes has a few links, never one per queue pair.
 *
 * Names can be guessed, and any user may bind them first. The connection manager needs only the name of a port: queue
 * pairs that it connects meet over the link on which it has exchanged their numbers. So a process without a name for
 * its queue pair numbers can be reached by the connection manager, but not by a peer that knows only a number.
 *
 * A process may also have a link to itself, which nothing above this layer distinguishes from other links.
 *
 * Each process is reachable under abstract socket names that contain the uid, so processes of different users never
 * meet. SO_PEERCRED is checked as well. The kernel removes the names when the process dies. They belong to a network
 * namespace, like ports of the kernel's RDMA CM.
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
 * The version of all messages on links, and of the layout of shared memory. It is in the first message on each link, in
 * both directions. A link to a process of another version ends there, and nothing else of that process is read. Raise
 * the version with each change of messages or layout; scripts/versions notices changes of layouts. The makefile builds
 * a library of another version, for tests.
 */
#ifndef LINK_VERSION
#define LINK_VERSION 9 /* of layouts 585f9267e36b */
#endif
extern _Atomic uint32_t link_version; /* LINK_VERSION. Written by tests only. */

/*
 * Limit of bytes that wait to be sent, for all peers together: 64 MiB, or 1/32 of the memory that this process can have
 * if that is less (memory_limit.h). Written by tests only.
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
    int *fds; /* CLOEXEC; a handler keeps a descriptor by setting its entry to -1; the others are closed after it */
    int nfds;
};

/* Returns the body of a message, or NULL if the message has descriptors, or another length than `size`. */
const void *link_body(const struct link_message *message, size_t size);

/* Handles one message. Returns false if the message is malformed. The link is then closed, as after a peer's death. */
typedef bool (*link_handler)(struct link *link, const struct link_message *incoming);

/*
 * Called once, on the engine thread, for a link that went down because the peer died, or because one side broke the
 * protocol. All messages that came before have been handled.
 */
typedef void (*link_down_handler)(struct link *link);

/* Registration of handlers, once, before the first link: init.c. */
void link_init(void);
void link_set_handler(unsigned type, link_handler handler);

/*
 * Sets the handler for a message whose descriptors this process has no room for. The handler is called without them,
 * instead of the normal one, so that it can answer the peer. Without such a handler the message is lost.
 */
void link_set_lost_handler(unsigned type, link_handler handler);
void link_add_down_handler(link_down_handler handler);

/*
 * Finds or makes the link to the process that owns a queue pair number, for queue pairs connected without the CM.
 * Blocks at most for an AF_UNIX connect(). On success *link has a reference. Returns 0 or an errno value: ECONNREFUSED
 * = no such process, or the number has no name; EAGAIN = the process's backlog is full, try again.
 */
int link_connect_qpn(uint32_t qpn, struct link **link);

/* Queue pair numbers with a name are below this one. */
#define LINK_UNNAMED_QPN 0x800000u

/*
 * Claims a block of 256 queue pair numbers for this process. Returns the first number, which is not 0; or 0 with errno.
 * Numbers with a name are unique on the host, and the kernel frees the name when the process dies. EADDRNOTAVAIL: other
 * processes hold most names. Numbers without a name are unique in this process only, so no other process can take them.
 */
uint32_t link_claim_qpn_block(bool with_name);

/*
 * Makes this process reachable as (port space, port). Returns 0 and a handle for link_unbind_port(), or an errno value:
 * EADDRINUSE = a process that could be a peer has the port; EACCES = a process of another user holds the port's name,
 * which any user may bind (unix(7), abstract names). Port 0 is not accepted here.
 */
struct link_port;
int link_bind_port(int port_space, uint16_t port, struct link_port **handle);

/* Port space of services that exist once for all processes that can meet, not once for each network namespace. */
#define LINK_COMMON 0x5a

/*
 * Gives back the blocks of queue pair numbers and ends all links, like the end of the process. Called on the engine
 * thread, when nothing in this process uses links, and no other thread makes any.
 */
void link_rest(void);

/* Makes the port unreachable. Links made over it stay, but those that the engine has not accepted yet go down. */
void link_unbind_port(struct link_port *handle);

/*
 * Finds or makes a link like link_connect_qpn(), to the process that has bound (port space, port). Links are remembered
 * by port, and the process may have given up the port since. When the process says so, call link_forget(), so that the
 * next call finds the present owner. `fresh` makes a new link in any case.
 */
int link_connect_port(int port_space, uint16_t port, bool fresh, struct link **link);

/* Identity of a network namespace (namespaces(7)): the file that stands for it. */
struct link_network {
    uint64_t device, inode;
};

/* Connects like link_connect_port(), to a port of another network namespace. */
int link_connect_port_in(const struct link_network *network, int port_space, uint16_t port, bool fresh,
                         struct link **link);

/* Returns whether names are in a folder, which other network namespaces may share. */
bool link_uses_folder(void);

/*
 * Finds other network namespaces in which a process listens at the port, or listened when it was killed. Writes up to
 * `limit` of them and returns their number; or returns 0 and sets errno, which is 0 if there are none.
 */
unsigned link_find_networks(int port_space, uint16_t port, struct link_network *networks, unsigned limit);

/* Hides the link, so that no connect finds it any more. Holders of a reference can go on using it. */
void link_forget(struct link *link);

/*
 * Returns the number of the link, which is not 0. No other link of this process ever has the same number, which means
 * nothing in other processes.
 */
uint64_t link_number(const struct link *link);

/* Returns the link of this number, whichever side made it, with a reference; or NULL if it is down. */
struct link *link_find(uint64_t number);

/*
 * Sends or queues a message. Messages of one link stay in order. The descriptors are duplicated. Never blocks. Returns
 * 0 or an errno value: EPIPE = the link is down; EINVAL = too long; ENOMEM or EMFILE = the message cannot be queued. A
 * peer is treated as dead if the messages queued for it exceed its share of link_queue_limit, or 4 MiB on one link. A
 * peer that has made the link must take some of the queue before this process reads more from it (link_io.c).
 */
int link_send(struct link *link, unsigned type, const void *body, size_t length, const int *fds, int nfds);

/*
 * Delays messages without descriptors that the calling thread sends on this link until link_release(). So the messages
 * of one step go by one system call, and wake the peer once. A message with descriptors, or of another thread, is sent
 * at once, after the delayed ones before it. A thread holds one link at a time.
 */
void link_hold(struct link *link);
void link_release(struct link *link);

/*
 * Sends a message without descriptors together with the next message, or within some milliseconds. Returns the same
 * values as link_send().
 */
int link_send_later(struct link *link, unsigned type, const void *body, size_t length);

/* Returns whether messages are queued here that the peer could not take yet. */
bool link_is_behind(struct link *link);

/* Closes a link whose peer misbehaves; its down handlers run on the engine thread. */
void link_abort(struct link *link);

bool link_is_up(struct link *link);

/* Returns whether the peer has said that its LINK_VERSION differs, at which the link goes down. */
bool link_is_of_another_version(const struct link *link);

/*
 * The peer's process as the kernel identifies it (unix(7), SO_PEERCRED). If its PID namespace is not visible here,
 * `pid` is 0, and `process` tells two such peers apart if the kernel can (since Linux 6.9, whose pidfds have inodes of
 * their own). Against a peer of this user and PID namespace only the limits for a process apply, because it could stop
 * this one with kill(2), or use ptrace(2) anyway. All other peers can use only descriptors that they are lent, and
 * messages.
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
 * Returns whether two processes count together against a limit. Processes that may not signal this one are counted by
 * user, because a user can have any number of them.
 */
bool link_peers_share_limits(const struct link_peer *a, const struct link_peer *b);

/* Returns a number other than 0, the same for peers that share limits. */
uint64_t link_peer_number(const struct link_peer *peer);

/*
 * References. Keep one to expect messages on a link, or to learn of its peer's death. The side that has connected
 * closes a link that has had no references for some seconds.
 */
struct link *link_get(struct link *link);
void link_put(struct link *link);

/*
 * Charges resources that this process keeps for the peer to the peer's account, which is the same for all links to its
 * process. Processes that cannot be told apart have one account, and so have all processes of a user that may not
 * signal this one. Returns false if the account would have more than `limit` of the kind, or the link is down. A charge
 * counts until a discharge of as many, also after the link went down.
 */
enum link_kept {
    LINK_KEPT_VIEW,
    LINK_KEPT_VIEW_BYTES,
    LINK_KEPT_DOORBELLS,
    LINK_KEPT_BORROWED,     /* internal to lending.c */
    LINK_KEPT_LINKS,        /* internal to link.c */
    LINK_KEPT_CHANNELS,     /* internal to process.c */
    LINK_KEPT_QUEUED_BYTES, /* internal to link_io.c, like the next one */
    LINK_KEPT_QUEUED_FDS,
    LINK_KEPT_ARENA_FDS,    /* internal to arena.c */
    LINK_KEPT_KINDS
};
bool link_charge(struct link *link, enum link_kept kind, uint64_t count, uint64_t limit);
/* Does the same for a limit of all processes together. Each may have as much as it leaves unused (account.h). */
bool link_charge_share(struct link *link, enum link_kept kind, uint64_t count, uint64_t limit);
void link_discharge(struct link *link, enum link_kept kind, uint64_t count);

/*
 * Pointers to data for each link, one for each part that uses links (queue pairs, CM), set and read under its own lock.
 */
enum link_slot { LINK_SLOT_QP, LINK_SLOT_CM, LINK_SLOTS };
void *link_slot(struct link *link, enum link_slot slot);
void link_set_slot(struct link *link, enum link_slot slot, void *value);

#endif
