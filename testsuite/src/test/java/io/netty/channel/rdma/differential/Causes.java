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
package io.netty.channel.rdma.differential;

import io.netty.handler.ssl.SslCompletionEvent;
import io.netty.util.internal.StringUtil;

import java.lang.reflect.Modifier;
import java.util.List;

/** Exceptions and events in words that are the same for the same thing. */
final class Causes {
    private static final List<String> PHRASES = List.of("Connection reset", "Connection refused",
            "Connection timed out", "not connected");

    private static final List<String> TRANSPORTS =
            List.of("io.netty.channel.unix", "io.netty.channel.epoll", "io.netty.channel.rdma");

    private Causes() {
    }

    /** The nearest public class that is of no transport, and the error of Linux that the message names. */
    static String describe(Throwable cause) {
        Class<?> type = cause.getClass();
        while (!Modifier.isPublic(type.getModifiers()) || isInternal(type)) {
            type = type.getSuperclass();
        }
        StringBuilder text = new StringBuilder(type.getSimpleName());
        // The message depends on whether a write notices it, or the read before it.
        String message = String.valueOf(cause.getMessage()).replace("Broken pipe", "Connection reset");
        for (String phrase : PHRASES) {
            if (message.contains(phrase)) {
                text.append(": ").append(phrase);
            }
        }
        if (cause.getCause() != null) {
            text.append(" by ").append(describe(cause.getCause()));
        }
        return text.toString();
    }

    private static boolean isInternal(Class<?> type) {
        return type.getSimpleName().startsWith("Stackless") ||
                TRANSPORTS.stream().anyMatch(type.getName()::startsWith);
    }

    static String describe(Object event) {
        if (event instanceof SslCompletionEvent completion) {
            return StringUtil.simpleClassName(event) + (completion.isSuccess() ? "" : " " +
                    describe(completion.cause()));
        }
        return StringUtil.simpleClassName(event);
    }
}
