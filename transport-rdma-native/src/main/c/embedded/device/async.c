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
/* Asynchronous events of a context: a queue behind an eventfd that is readable while the queue is not empty. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "context.h"
#include "embedded/base/cancel.h"

struct async_event {
    struct ibv_async_event ibv;
    struct async_source *source;
    struct async_event *next;
};

void async_raise(struct context *context, enum ibv_event_type type, void *element, struct async_source *source) {
    UNCANCELLED;
    struct async_event *event = calloc(1, sizeof(*event));
    if (event == NULL) {
        return; /* the event is lost; the object's state and its completions still show the error */
    }
    event->ibv.event_type = type;
    event->ibv.element.qp = element; /* members of the union are pointers, except port_num, whose events do not occur */
    event->source = source;
    pthread_mutex_lock(&context->lock);
    struct async_event *other = context->first;
    while (other != NULL && (other->source != source || other->ibv.event_type != type)) {
        other = other->next;
    }
    if (other != NULL) {
        free(event);
    } else {
        *context->last = event;
        context->last = &event->next;
        const uint64_t one = 1;
        (void) !write(context->extended.context.async_fd, &one, sizeof(one));
    }
    pthread_mutex_unlock(&context->lock);
}

void async_retire(struct context *context, struct async_source *source) {
    UNCANCELLED;
    pthread_mutex_lock(&context->lock);
    struct async_event **link = &context->first;
    while (*link != NULL) {
        struct async_event *event = *link;
        if (event->source == source) {
            *link = event->next;
            free(event);
        } else {
            link = &event->next;
        }
    }
    context->last = link;
    while (source->completed != source->delivered) {
        pthread_cond_wait(&context->acknowledged, &context->lock);
    }
    pthread_mutex_unlock(&context->lock);
}

int embedded_ibv_get_async_event(struct ibv_context *ibv, struct ibv_async_event *event) {
    struct context *context = context_of(ibv);
    if (context_is_inherited(ibv)) {
        errno = EIO;
        return -1;
    }
    for (;;) {
        uint64_t count;
        /* The read blocks or fails with EAGAIN, depending on how the application has set the descriptor. */
        if (read(ibv->async_fd, &count, sizeof(count)) != sizeof(count)) {
            return -1;
        }
        UNCANCELLED;
        pthread_mutex_lock(&context->lock);
        struct async_event *first = context->first;
        if (first != NULL) {
            context->first = first->next;
            if (context->first == NULL) {
                context->last = &context->first;
            } else {
                count = 1;
                (void) !write(ibv->async_fd, &count, sizeof(count));
            }
            *event = first->ibv;
            first->source->delivered++;
        }
        pthread_mutex_unlock(&context->lock);
        if (first != NULL) {
            free(first);
            return 0;
        }
    }
}

void async_acknowledge(struct context *context, struct async_source *source) {
    pthread_mutex_lock(&context->lock);
    source->completed++;
    pthread_cond_broadcast(&context->acknowledged);
    pthread_mutex_unlock(&context->lock);
}
