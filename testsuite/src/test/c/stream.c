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
#define _GNU_SOURCE
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void failed(const char *what) {
    printf("error %s %s\n", what, strerrorname_np(errno));
    fflush(stdout);
    exit(1);
}

static void set(int socket, int level, int name, int value, const char *what) {
    if (value > 0 && rsetsockopt(socket, level, name, &value, sizeof(value)) != 0)
        failed(what);
}

/* Buffers and queues count when the connection is made; a listening socket hands them on. */
static void configure(int socket, const struct stream_options *options) {
    set(socket, SOL_SOCKET, SO_RCVBUF, options->receive_buffer, "SO_RCVBUF");
    set(socket, SOL_SOCKET, SO_SNDBUF, options->send_buffer, "SO_SNDBUF");
    set(socket, SOL_RDMA, RDMA_SQSIZE, options->send_queue, "RDMA_SQSIZE");
    set(socket, SOL_RDMA, RDMA_RQSIZE, options->receive_queue, "RDMA_RQSIZE");
    set(socket, SOL_RDMA, RDMA_IOMAPSIZE, options->iomap_size, "RDMA_IOMAPSIZE");
    if (options->inline_size >= 0
            && rsetsockopt(socket, SOL_RDMA, RDMA_INLINE, &options->inline_size, sizeof(options->inline_size)) != 0)
        failed("RDMA_INLINE");
}

static struct addrinfo *look_up(const char *host, const char *port) {
    struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
    struct addrinfo *address;
    int error = getaddrinfo(host, port, &hints, &address);

    if (error != 0) {
        printf("error %s:%s %s\n", host, port, gai_strerror(error));
        exit(1);
    }
    return address;
}

static void start(struct stream *stream, int socket, const struct stream_options *options) {
    stream->socket = socket;
    stream->options = options;
    stream->start = stream->end = 0;
    if (options->keep_alive > 0) {
        set(socket, SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE");
        set(socket, IPPROTO_TCP, TCP_KEEPIDLE, options->keep_alive, "TCP_KEEPIDLE");
    }
}

void stream_connect(struct stream *stream, const char *host, const char *port, const struct stream_options *options) {
    struct addrinfo *address = look_up(host, port);
    int socket = rsocket(address->ai_family, SOCK_STREAM, 0);

    if (socket < 0)
        failed("rsocket");
    configure(socket, options);
    if (rconnect(socket, address->ai_addr, address->ai_addrlen) != 0)
        failed("rconnect");
    freeaddrinfo(address);
    start(stream, socket, options);
}

void stream_accept(struct stream *stream, const char *host, const struct stream_options *options) {
    struct addrinfo *address = look_up(host, "0");
    struct sockaddr_in6 local;
    socklen_t size = sizeof(local);
    int listener = rsocket(address->ai_family, SOCK_STREAM, 0);
    int socket;

    if (listener < 0)
        failed("rsocket");
    configure(listener, options);
    if (rbind(listener, address->ai_addr, address->ai_addrlen) != 0)
        failed("rbind");
    if (rlisten(listener, 1) != 0)
        failed("rlisten");
    if (rgetsockname(listener, (struct sockaddr *)&local, &size) != 0)
        failed("rgetsockname");
    /* The port is at the same place for both families. */
    printf("port %u\n", ntohs(local.sin6_port));
    fflush(stdout);
    freeaddrinfo(address);
    socket = raccept(listener, NULL, NULL);
    if (socket < 0)
        failed("raccept");
    rclose(listener);
    start(stream, socket, options);
}

void sum_init(struct sum *sum) {
    sum->length = 0;
    sum->crc = 0;
}

void sum_add(struct sum *sum, const void *bytes, size_t length) {
    static uint32_t table[256];
    const unsigned char *byte = bytes;
    uint32_t crc = ~sum->crc;

    if (table[1] == 0) {
        for (uint32_t i = 0; i < 256; i++) {
            table[i] = i;
            for (int bit = 0; bit < 8; bit++)
                table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320 : 0);
        }
    }
    for (size_t i = 0; i < length; i++)
        crc = table[(crc ^ byte[i]) & 0xFF] ^ crc >> 8;
    sum->crc = ~crc;
    sum->length += length;
}

void generate(void *bytes, uint64_t position, size_t length) {
    unsigned char *byte = bytes;

    for (size_t i = 0; i < length; i++)
        byte[i] = (uint32_t)(position + i) * 0x9E3779B1 >> 24;
}

static ssize_t receive(struct stream *stream, void *bytes, size_t length, int flags) {
    const struct stream_options *options = stream->options;

    if (options->read_delay > 0)
        usleep(options->read_delay);
    if (options->read_size > 0 && (size_t)options->read_size < length)
        length = options->read_size;
    return rrecv(stream->socket, bytes, length, flags);
}

ssize_t stream_read(struct stream *stream, void *bytes, size_t length) {
    if (stream->start == stream->end) {
        ssize_t received = receive(stream, stream->buffer, sizeof(stream->buffer), 0);

        if (received <= 0)
            return received;
        stream->start = 0;
        stream->end = received;
    }
    if (length > stream->end - stream->start)
        length = stream->end - stream->start;
    memcpy(bytes, stream->buffer + stream->start, length);
    stream->start += length;
    return length;
}

void stream_read_fully(struct stream *stream, struct sum *sum, uint64_t length, const char *what) {
    char bytes[1 << 14];

    while (length > 0) {
        ssize_t received = stream_read(stream, bytes, length < sizeof(bytes) ? length : sizeof(bytes));

        if (received == 0)
            errno = ENODATA; /* the stream ended early */
        if (received <= 0)
            failed(what);
        sum_add(sum, bytes, received);
        length -= received;
    }
}

void stream_write(struct stream *stream, const void *bytes, size_t length, const char *what) {
    while (length > 0) {
        ssize_t sent = rsend(stream->socket, bytes, length, 0);

        if (sent <= 0)
            failed(what);
        bytes = (const char *)bytes + sent;
        length -= sent;
    }
}

void stream_generate(struct stream *stream, uint64_t position, uint64_t length, const char *what) {
    static char bytes[1 << 20];

    while (length > 0) {
        size_t part = length < sizeof(bytes) ? length : sizeof(bytes);

        generate(bytes, position, part);
        stream_write(stream, bytes, part, what);
        position += part;
        length -= part;
    }
}

int stream_line(struct stream *stream, char *line, size_t size, const char *what) {
    size_t length = 0;
    ssize_t received;

    while ((received = stream_read(stream, line + length, 1)) > 0 && line[length] != '\n') {
        if (++length == size) {
            errno = EMSGSIZE;
            failed(what);
        }
    }
    if (received < 0)
        failed(what);
    if (received == 0 && length > 0) {
        errno = ENODATA;
        failed(what);
    }
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0';
    return received > 0;
}

static int would_block(ssize_t result) {
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void stream_exchange(struct stream *stream, struct sum *sum, uint64_t length) {
    static char out[1 << 16];
    char in[1 << 14];
    uint64_t sent = 0, received = 0;

    while (sent < length || received < length) {
        struct pollfd state = { .fd = stream->socket };

        state.events = (sent < length ? POLLOUT : 0) | (received < length ? POLLIN : 0);
        if (rpoll(&state, 1, -1) < 0)
            failed("rpoll");
        if (received < length && (state.revents & (POLLIN | POLLERR | POLLHUP))) {
            size_t part = length - received < sizeof(in) ? length - received : sizeof(in);
            ssize_t result = receive(stream, in, part, MSG_DONTWAIT);

            if (result == 0)
                errno = ENODATA;
            if (result <= 0 && !would_block(result))
                failed("exchange");
            if (result > 0) {
                sum_add(sum, in, result);
                received += result;
            }
        }
        if (sent < length && (state.revents & POLLOUT)) {
            size_t part = length - sent < sizeof(out) ? length - sent : sizeof(out);
            ssize_t result;

            generate(out, sent, part);
            result = rsend(stream->socket, out, part, MSG_DONTWAIT);
            if (result <= 0 && !would_block(result))
                failed("exchange");
            if (result > 0)
                sent += result;
        }
    }
}
