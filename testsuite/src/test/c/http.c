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
#include "http.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE 8192
/* No power of two, so that chunks and whatever buffers there are do not coincide. */
#define CHUNK 23457

struct head {
    char first[LINE];
    int64_t length; /* -1: not told */
    int chunked;
    int close;
};

static void print(struct stream *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print(struct stream *stream, const char *format, ...) {
    char text[LINE];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    stream_write(stream, text, length, "head");
}

static int read_head(struct stream *stream, struct head *head) {
    char line[LINE];

    head->length = -1;
    head->chunked = head->close = 0;
    if (!stream_line(stream, head->first, sizeof(head->first), "head"))
        return 0;
    while (stream_line(stream, line, sizeof(line), "head") && line[0] != '\0') {
        if (strncasecmp(line, "content-length:", 15) == 0)
            head->length = strtoll(line + 15, NULL, 10);
        else if (strncasecmp(line, "transfer-encoding:", 18) == 0)
            head->chunked = strcasestr(line, "chunked") != NULL;
        else if (strncasecmp(line, "connection:", 11) == 0)
            head->close = strcasestr(line, "close") != NULL;
    }
    return 1;
}

static void read_body(struct stream *stream, const struct head *head, struct sum *sum) {
    char line[LINE];
    uint64_t length;

    if (head->chunked) {
        do {
            stream_line(stream, line, sizeof(line), "chunk");
            length = strtoull(line, NULL, 16);
            stream_read_fully(stream, sum, length, "chunk");
            stream_line(stream, line, sizeof(line), "chunk"); /* ends a chunk, or the trailers, which are none */
        } while (length > 0);
    } else if (head->length > 0) {
        stream_read_fully(stream, sum, head->length, "body");
    }
}

static void write_body(struct stream *stream, uint64_t length, int chunked) {
    if (!chunked) {
        stream_generate(stream, 0, length, "body");
        return;
    }
    for (uint64_t position = 0; position < length;) {
        uint64_t part = length - position < CHUNK ? length - position : CHUNK;

        print(stream, "%" PRIx64 "\r\n", part);
        stream_generate(stream, position, part, "body");
        print(stream, "\r\n");
        position += part;
    }
    print(stream, "0\r\n\r\n");
}

void http_send(struct stream *stream, const char *method, const char *path, int64_t body, int chunked) {
    if (chunked)
        print(stream, "%s %s HTTP/1.1\r\nHost: rsocket\r\nTransfer-Encoding: chunked\r\n\r\n", method, path);
    else if (body >= 0)
        print(stream, "%s %s HTTP/1.1\r\nHost: rsocket\r\nContent-Length: %" PRId64 "\r\n\r\n", method, path, body);
    else
        print(stream, "%s %s HTTP/1.1\r\nHost: rsocket\r\n\r\n", method, path);
    if (body >= 0)
        write_body(stream, body, chunked);
}

void http_receive(struct stream *stream) {
    struct head head;
    struct sum sum;
    int status = 0;

    sum_init(&sum);
    if (read_head(stream, &head)) {
        sscanf(head.first, "HTTP/1.1 %d", &status);
        read_body(stream, &head, &sum);
    }
    printf("answer %d %" PRIu64 " %08" PRIx32 "\n", status, sum.length, sum.crc);
    fflush(stdout);
}

static void answer(struct stream *stream, const struct head *request) {
    const char *path = request->first;
    struct sum sum;
    char text[64];
    uint64_t length;
    int chunked;

    sum_init(&sum);
    read_body(stream, request, &sum);
    if (strncmp(path, "POST /", 6) == 0) {
        int size = snprintf(text, sizeof(text), "%" PRIu64 " %08" PRIx32, sum.length, sum.crc);

        print(stream, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, text);
    } else if (strncmp(path, "GET /", 5) == 0) {
        chunked = strncmp(path, "GET /chunked/", 13) == 0;
        length = strtoull(path + (chunked ? 13 : 5), NULL, 10);
        if (chunked)
            print(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        else
            print(stream, "HTTP/1.1 200 OK\r\nContent-Length: %" PRIu64 "\r\n\r\n", length);
        write_body(stream, length, chunked);
    } else {
        print(stream, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    }
}

void http_serve(struct stream *stream) {
    struct head request;
    int count = 0;

    while (read_head(stream, &request)) {
        answer(stream, &request);
        count++;
        if (request.close)
            break;
    }
    printf("serve %d\n", count);
    fflush(stdout);
}
