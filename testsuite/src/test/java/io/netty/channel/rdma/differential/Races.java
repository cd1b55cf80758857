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

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Allowed differences of a connection that ends while something is in flight to the end that ended it ({@link
 * Outcome#racing()}): what the ends see depends on who is faster, and epoll need not happen to show every order. These
 * are the rules for it.
 */
final class Races {
    /** Outcomes of an operation on a connection that ends. */
    private static final List<String> OUTCOMES = List.of("success", "cancelled", "ClosedChannelException",
            "ClosedChannelException by IOException: Connection reset", "IOException: Connection reset",
            "ChannelOutputShutdownException", "ChannelOutputShutdownException by IOException: Connection reset",
            "NotYetConnectedException");
    /** Netty's message about a write that was cancelled, and not flushed before the channel was closed. */
    private static final Pattern CANCELLED = Pattern.compile("Failed to mark a promise as failure because it has " +
            "failed already: DefaultChannelPromise@\\w+\\(failure: java.util.concurrent.CancellationException\\), " +
            "unnotified cause:(, )?");
    private static final Set<String> CONNECTS =
            Set.of("success", "ConnectException: Connection reset by ConnectException: Connection reset");
    private static final String RESET = "exception IOException: Connection reset";
    private static final String INPUT_SHUTDOWN = "ChannelInputShutdownEvent";
    private static final String READ_COMPLETE = "ChannelInputShutdownReadComplete";

    private Races() {
    }

    /**
     * Returns whether a server has reset its connection while its client was about to learn that it is connected, and
     * was faster than that, or slower, in each run on epoll.
     */
    static boolean isOfConnect(Outcome onRdma, List<Outcome> onEpoll) {
        String connect = onRdma.items().get("CLIENT connect");
        return wasReset(onRdma) && onEpoll.stream().allMatch(outcome -> wasReset(outcome) &&
                !outcome.items().get("CLIENT connect").equals(connect));
    }

    private static boolean wasReset(Outcome outcome) {
        return CONNECTS.contains(outcome.items().get("CLIENT connect")) &&
                outcome.items().keySet().stream().anyMatch(name -> name.startsWith("SERVER reset "));
    }

    static boolean explain(String item, Outcome onRdma, Set<String> onEpoll) {
        String value = onRdma.items().get(item);
        if (item.endsWith(" events")) {
            return isEnd(item.substring(0, item.indexOf(' ')), value, onRdma.items(), onEpoll);
        }
        if (item.equals("warnings")) {
            return CANCELLED.matcher(value).replaceAll("").equals("[]");
        }
        if (item.contains(" write ") || item.contains(" close ") || item.contains(" reset ") ||
                item.contains(" shutdown") || item.contains(" register") || item.contains(" deregister")) {
            return value == null || OUTCOMES.contains(value) || value.startsWith("SSL") || value.startsWith("Ssl");
        }
        return item.contains(" cancel ") || item.endsWith(" received bytes") || item.contains(" at sync ") ||
                item.endsWith(" last close") || item.endsWith(" in the end");
    }

    private static boolean isEnd(String side, String value, Map<String, String> items, Set<String> onEpoll) {
        List<String> special = new ArrayList<>();
        for (String event : value.substring(1, value.length() - 1).split(", ")) {
            if (!List.of("reads", "registered", "active", "closed", "inactive", "unregistered").contains(event) &&
                    !event.startsWith("Ssl") && !event.startsWith("exception SSL") &&
                    !event.startsWith("ChannelOutputShutdown")) {
                special.add(event);
            }
        }
        Set<String> once = new HashSet<>(special);
        if (once.size() < special.size() || !Set.of(RESET, INPUT_SHUTDOWN, READ_COMPLETE).containsAll(once) ||
                special.contains(READ_COMPLETE) && special.indexOf(READ_COMPLETE) < special.indexOf(INPUT_SHUTDOWN)) {
            return false;
        }
        // A reset is told by the writes that wait, or by exceptionCaught if there are none.
        boolean toldByWrites = items.entrySet().stream().anyMatch(entry ->
                entry.getKey().startsWith(side + " write ") &&
                entry.getValue().equals("IOException: Connection reset"));
        return !special.contains(RESET) || !toldByWrites ||
                onEpoll.stream().anyMatch(events -> events != null && events.contains(RESET));
    }
}
