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
 * The other end of an RdmaRendezvousHandler in the tests: a C program on verbs that sends and reads messages of any
 * length as docs/rendezvous.md says. It does what its command line says, step by step, and prints one line for each.
 *
 *   rendezvous_peer connect HOST PORT STEP...
 *   rendezvous_peer listen HOST PORT STEP...     accepts one connection
 *
 * Steps:
 *   send N      sends a message of N bytes, announced in three pieces if it is long: "sent N" when the peer has it,
 *               "refused N" if it does not want it
 *   cancel N    announces a message of N bytes and withdraws it: "cancelled N", or "sent N" if it was too late
 *   receive     waits for a message, and reads it if it is announced: "received N"
 *   refuse      waits for an announcement, and refuses it: "refused N"
 * Byte i of a message of N bytes is i * 31 + N. A message with others prints "error bytes" and ends the program.
 */
#define _GNU_SOURCE
#include "verbs_end.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1
#define MAX_PIECES 16
#define RECEIVE_SIZE 4096
#define RECEIVES 16
#define READ_SIZE (1 << 20)

enum type { MESSAGE = 1, ANNOUNCEMENT, ANSWER, CANCELLATION };
enum answer { READ, REFUSED, CANCELLED };

/* In network order. */
struct header {
    uint8_t version;
    uint8_t type;
    uint16_t pieces;
    uint32_t number;
    uint64_t value;
} __attribute__((packed));

struct piece {
    uint64_t address;
    uint64_t length;
    uint32_t key;
    uint32_t reserved;
} __attribute__((packed));

struct frame {
    struct header header;
    union {
        struct piece pieces[MAX_PIECES];
        uint8_t bytes[RECEIVE_SIZE - sizeof(struct header)];
    };
};

_Static_assert(sizeof(struct frame) == RECEIVE_SIZE, "RECEIVE_BUFFER_SIZE");

static struct frame received[RECEIVES], out;
static struct ibv_mr *received_region, *out_region;
static uint32_t last_number;

_Noreturn static void usage(const char *what) {
    fprintf(stderr, "rendezvous_peer: what is '%s'? See the head of rendezvous_peer.c\n", what);
    exit(2);
}

_Noreturn static void wrong(const char *what) {
    printf("error %s\n", what);
    fflush(stdout);
    exit(1);
}

static void prepare(void) {
    received_region = reg(received, sizeof(received));
    out_region = reg(&out, sizeof(out));
    for (int i = 0; i < RECEIVES; i++)
        post_receive(&received[i], sizeof(received[i]), received_region, i);
}

static void send_frame(enum type type, int pieces, uint32_t number, uint64_t value, size_t more) {
    struct ibv_send_wr request = { .opcode = IBV_WR_SEND };

    out.header = (struct header) {
        .version = VERSION, .type = type, .pieces = htobe16(pieces), .number = htobe32(number),
        .value = htobe64(value),
    };
    execute(&request, &out, sizeof(out.header) + more, out_region, "send");
}

/* Copies the next frame, and posts its receive again. Returns the number of bytes behind the header. */
static size_t next_frame(struct frame *frame, enum type expected) {
    struct ibv_wc wc;
    size_t more;

    next_receive(&wc);
    memcpy(frame, &received[wc.wr_id], sizeof(*frame));
    post_receive(&received[wc.wr_id], sizeof(*received), received_region, wc.wr_id);
    if (wc.byte_len < sizeof(frame->header) || frame->header.version != VERSION)
        wrong("header");
    more = wc.byte_len - sizeof(frame->header);
    if (frame->header.type != expected && !(expected == MESSAGE && frame->header.type == ANNOUNCEMENT))
        wrong("type");
    if (be16toh(frame->header.pieces) > MAX_PIECES || more != (frame->header.type == MESSAGE
            ? be64toh(frame->header.value) : be16toh(frame->header.pieces) * sizeof(struct piece)))
        wrong("length");
    return more;
}

static void fill(uint8_t *bytes, uint64_t length) {
    for (uint64_t i = 0; i < length; i++)
        bytes[i] = i * 31 + length;
}

static void verify(const uint8_t *bytes, uint64_t length) {
    for (uint64_t i = 0; i < length; i++)
        if (bytes[i] != (uint8_t)(i * 31 + length))
            wrong("bytes");
}

static void send_message(uint64_t length, int cancel) {
    struct ibv_mr *region;
    struct frame answer;
    uint8_t *bytes;
    uint64_t parts[] = { length / 3, length / 2, 0 }, at = 0;

    if (!cancel && length <= sizeof(out.bytes)) {
        fill(out.bytes, length);
        send_frame(MESSAGE, 0, 0, length, length);
        printf("sent %" PRIu64 "\n", length);
        return;
    }
    parts[2] = length - parts[0] - parts[1];
    bytes = malloc(length);
    if (bytes == NULL)
        failed("malloc");
    fill(bytes, length);
    region = reg(bytes, length);
    for (int i = 0; i < 3; at += parts[i++])
        out.pieces[i] = (struct piece) {
            .address = htobe64((uintptr_t)bytes + at), .length = htobe64(parts[i]), .key = htobe32(region->rkey),
        };
    send_frame(ANNOUNCEMENT, 3, ++last_number, length, 3 * sizeof(struct piece));
    if (cancel)
        send_frame(CANCELLATION, 0, last_number, 0, 0);
    next_frame(&answer, ANSWER);
    if (be32toh(answer.header.number) != last_number)
        wrong("number");
    static const char *const words[] = { [READ] = "sent", [REFUSED] = "refused", [CANCELLED] = "cancelled" };

    if (be64toh(answer.header.value) > CANCELLED)
        wrong("answer");
    printf("%s %" PRIu64 "\n", words[be64toh(answer.header.value)], length);
    ibv_dereg_mr(region);
    free(bytes);
}

/* Reads all pieces, one RDMA READ after the other. */
static void read_pieces(const struct frame *frame, uint8_t *bytes, uint64_t length, const struct ibv_mr *region) {
    uint64_t at = 0;

    for (int i = 0; i < be16toh(frame->header.pieces); i++) {
        uint64_t left = be64toh(frame->pieces[i].length), address = be64toh(frame->pieces[i].address);

        if (left > length - at)
            wrong("pieces");
        while (left > 0) {
            uint32_t part = left < READ_SIZE ? left : READ_SIZE;
            struct ibv_send_wr request = {
                .opcode = IBV_WR_RDMA_READ,
                .wr.rdma = { .remote_addr = address, .rkey = be32toh(frame->pieces[i].key) },
            };

            execute(&request, bytes + at, part, region, "read");
            at += part;
            address += part;
            left -= part;
        }
    }
    if (at != length)
        wrong("pieces");
}

static void receive_message(int refuse) {
    struct frame frame;
    uint64_t length;

    next_frame(&frame, refuse ? ANNOUNCEMENT : MESSAGE);
    length = be64toh(frame.header.value);
    if (frame.header.type == MESSAGE) {
        verify(frame.bytes, length);
    } else if (!refuse) {
        uint8_t *bytes = malloc(length);
        struct ibv_mr *region;

        if (bytes == NULL)
            failed("malloc");
        region = reg(bytes, length);
        read_pieces(&frame, bytes, length, region);
        verify(bytes, length);
        ibv_dereg_mr(region);
        free(bytes);
    }
    if (frame.header.type == ANNOUNCEMENT)
        send_frame(ANSWER, 0, be32toh(frame.header.number), refuse ? REFUSED : READ, 0);
    printf("%s %" PRIu64 "\n", refuse ? "refused" : "received", length);
}

int main(int argc, char **argv) {
    int passive = argc > 1 && strcmp(argv[1], "listen") == 0;

    if (argc < 4 || (!passive && strcmp(argv[1], "connect") != 0))
        usage(argc > 1 ? argv[1] : "");
    establish(argv[2], argv[3], passive, RECEIVES, prepare);
    for (int i = 4; i < argc; i++) {
        const char *step = argv[i];

        if (strcmp(step, "receive") == 0 || strcmp(step, "refuse") == 0)
            receive_message(strcmp(step, "refuse") == 0);
        else if ((strcmp(step, "send") == 0 || strcmp(step, "cancel") == 0) && i + 1 < argc)
            send_message(strtoull(argv[++i], NULL, 10), strcmp(step, "cancel") == 0);
        else
            usage(step);
        fflush(stdout);
    }
    rdma_disconnect(id);
    return 0;
}
