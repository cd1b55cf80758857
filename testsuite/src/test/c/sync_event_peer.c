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
 * The other end of an RdmaSyncEvent in the tests of this project's message channels: a C program on verbs and the
 * connection manager that has an event of its own, 8 bytes of memory, and uses the peer's. It does what its command
 * line says, step by step, and prints one line for each step that has a result.
 *
 *   sync_event_peer connect HOST PORT STEP...
 *   sync_event_peer listen HOST PORT STEP...     accepts one connection
 *
 * When it is connected, each end sends the blob of its event, as the head of RemoteMemory.java has it.
 *
 * Steps:
 *   add N       FETCH AND ADD to the peer's event: "add N OLD"
 *   set N       RDMA WRITE of the peer's event: "set N"
 *   get         RDMA READ of the peer's event: "get VALUE"
 *   await N     looks at its own event until that is N or more: "await VALUE"
 *   rally N     N times: adds 1 to the peer's event, then looks at its own until the peer has added 1: "rally VALUE"
 *   wait        prints "waiting" and waits for a line on the standard input
 * What fails prints "error WHAT ERRNO" or "error WHAT STATUS" and ends the program with status 1.
 */
#define _GNU_SOURCE
#include "verbs_end.h"

#include <endian.h>
#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x52444d41
#define VERSION 1
/* Read, write, atomic. */
#define ALL_PERMISSIONS 7

/* In network order. */
struct blob {
    uint32_t magic;
    uint8_t version;
    uint8_t permissions;
    uint16_t reserved;
    uint64_t address;
    uint64_t length;
    uint32_t key;
} __attribute__((packed));

_Static_assert(sizeof(struct blob) == 28, "RemoteMemory.BLOB_LENGTH");

/* Memory that the device reads and writes. */
static struct memory {
    uint64_t event;
    uint64_t value;     /* to write, or that was read */
    struct blob own;
    struct blob peer;
} memory __attribute__((aligned(64)));

static struct ibv_mr *region;
static uint64_t peer_address;
static uint32_t peer_key;

_Noreturn static void usage(const char *what) {
    fprintf(stderr, "sync_event_peer: what is '%s'? See the head of sync_event_peer.c\n", what);
    exit(2);
}

/* Registers the memory and posts the receive for the peer's blob, which may come as soon as there is a connection. */
static void prepare(void) {
    region = reg(&memory, sizeof(memory));
    post_receive(&memory.peer, sizeof(memory.peer), region, 0);
}

static void introduce(void) {
    struct ibv_send_wr request = { .opcode = IBV_WR_SEND };
    struct ibv_wc wc;

    memory.own = (struct blob) {
        .magic = htobe32(MAGIC), .version = VERSION, .permissions = ALL_PERMISSIONS,
        .address = htobe64((uintptr_t)&memory.event), .length = htobe64(sizeof(memory.event)),
        .key = htobe32(region->rkey),
    };
    execute(&request, &memory.own, sizeof(memory.own), region, "send");
    next_receive(&wc);
    if (wc.byte_len != sizeof(memory.peer) || be32toh(memory.peer.magic) != MAGIC || memory.peer.version != VERSION
            || memory.peer.permissions != ALL_PERMISSIONS || be64toh(memory.peer.length) != sizeof(uint64_t)) {
        printf("error blob of %u bytes\n", wc.byte_len);
        exit(1);
    }
    peer_address = be64toh(memory.peer.address);
    peer_key = be32toh(memory.peer.key);
}

static uint64_t add(uint64_t n) {
    struct ibv_send_wr request = {
        .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
        .wr.atomic = { .remote_addr = peer_address, .rkey = peer_key, .compare_add = n },
    };

    execute(&request, &memory.value, sizeof(memory.value), region, "add");
    return memory.value;
}

/* A WRITE of the value, or a READ into it. */
static void transfer(enum ibv_wr_opcode opcode, const char *what) {
    struct ibv_send_wr request = {
        .opcode = opcode, .wr.rdma = { .remote_addr = peer_address, .rkey = peer_key },
    };

    execute(&request, &memory.value, sizeof(memory.value), region, what);
}

/* Whoever has started this program ends it if it looks for ever. */
static uint64_t await(uint64_t least) {
    uint64_t value;

    while ((value = __atomic_load_n(&memory.event, __ATOMIC_ACQUIRE)) < least)
        sched_yield();
    return value;
}

static void step(const char *name, uint64_t n) {
    if (strcmp(name, "add") == 0) {
        printf("add %" PRIu64 " %" PRIu64 "\n", n, add(n));
    } else if (strcmp(name, "set") == 0) {
        memory.value = n;
        transfer(IBV_WR_RDMA_WRITE, name);
        printf("set %" PRIu64 "\n", n);
    } else if (strcmp(name, "get") == 0) {
        transfer(IBV_WR_RDMA_READ, name);
        printf("get %" PRIu64 "\n", memory.value);
    } else if (strcmp(name, "await") == 0) {
        printf("await %" PRIu64 "\n", await(n));
    } else if (strcmp(name, "rally") == 0) {
        uint64_t value = await(0);

        for (uint64_t i = 0; i < n; i++) {
            add(1);
            value = await(value + 1);
        }
        printf("rally %" PRIu64 "\n", value);
    } else if (strcmp(name, "wait") == 0) {
        printf("waiting\n");
        fflush(stdout);
        while (getchar() != '\n' && !feof(stdin))
            continue;
    } else {
        usage(name);
    }
    fflush(stdout);
}

int main(int argc, char **argv) {
    int i = 4, passive = argc > 1 && strcmp(argv[1], "listen") == 0;

    if (argc < 4 || (!passive && strcmp(argv[1], "connect") != 0))
        usage(argc > 1 ? argv[1] : "");
    establish(argv[2], argv[3], passive, 1, prepare);
    introduce();
    while (i < argc) {
        const char *name = argv[i++], *argument = "0";

        if (strcmp(name, "get") != 0 && strcmp(name, "wait") != 0) {
            if (i == argc)
                usage(name);
            argument = argv[i++];
        }
        step(name, strtoull(argument, NULL, 10));
    }
    rdma_disconnect(id);
    return 0;
}
