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
/* Interface between link.c (making, finding and ending links) and link_io.c (bytes on them). */
#ifndef NETTY_RDMA_EMBEDDED_LINK_PRIVATE_H
#define NETTY_RDMA_EMBEDDED_LINK_PRIVATE_H

#include "embedded/base/container_of.h"
#include "engine.h"
#include "link.h"

#include <pthread.h>
#include <sys/types.h>

#define LINK_HELLO_MAGIC 0x4e52444du /* "NRDM" */

struct link_header {
    uint32_t type;
    uint32_t reserved;
};

/*
 * First message on a link. Its header, type and layout are the same in all versions, so that it can tell the versions
 * apart. Libraries from before LINK_VERSION 7 all say 1. A later version may append to it.
 */
struct link_hello {
    uint32_t magic;
    uint32_t version;
};

/* Block of queued packets. The whole block is counted, so many small packets take no more memory than is counted. */
#define LINK_BLOCK_BYTES 4096 /* size including malloc(3)'s overhead */
struct link_block {
    struct link_block *next;
    uint32_t begin, end; /* range of the packets in `words` */
    uint32_t words[(LINK_BLOCK_BYTES - 4 * sizeof(void *)) / sizeof(uint32_t)];
};

/* Name of a port, or of a block of queue pair numbers. */
struct link_name {
    enum { LINK_UNNAMED, LINK_PORT, LINK_BLOCK } kind;
    uid_t user;                  /* owner, without a folder */
    uint32_t port_space;         /* kind LINK_PORT only */
    uint32_t number;
    struct link_network network; /* kind LINK_PORT in a folder only */
};

struct account;

struct link {
    struct engine_source source;
    struct engine_timer hello_timer, idle_timer, retry_timer;
    struct link *next, **previous; /* list of table.links */
    struct link_name name;         /* name of the target; LINK_UNNAMED for accepted links */
    bool named;                    /* found by name, under table.lock */
    uint64_t number;
    struct link *next_of_number;   /* list of table.by_number */
    struct link_peer peer;
    _Atomic uint32_t peer_version; /* 0 before its hello; written on the engine thread, with the lock */
    bool up;                       /* atomic */
    int references;                /* atomic; 1 to 2 only under table.lock */
    void *slots[LINK_SLOTS];
    struct account *account;

    pthread_mutex_t lock;
    struct link_block *first, *last; /* none is empty */
    size_t queued_bytes;             /* sum of all blocks */
    uint32_t watched;                /* epoll events */
    bool waiting_for_space;          /* EPOLLOUT is watched */
    bool paused;                     /* EPOLLIN is not watched: reading would need more descriptors than are free */
    bool stopped;                    /* EPOLLIN is not watched: the peer has too much to read */
};

/* link_io.c */
/* Sends and receives on the engine thread, after epoll_wait(2). Returns false at the end of the link. */
bool link_transfer(struct link *link, uint32_t epoll_events);
void link_on_retry(struct engine_timer *timer);
/* Discards queued messages. Called with link->lock held, or by the last owner; `close_fd`: a function of closer.h. */
void link_discard_queue(struct link *link, void (*close_fd)(int fd));

#endif
