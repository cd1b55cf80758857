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

/** Intended differences from TCP. Each has a row of this title in docs/migrating.md, with the reason. */
enum Difference {
    CLOSE_IS_AN_END("A close without having read everything is an end of input for the peer") {
        @Override
        boolean explains(String item, Outcome rdma, String epoll, Program program) {
            Side side = sideOf(item);
            return side != null && item.endsWith(" events") && epoll != null &&
                    epoll.replace(RESET + ", ", "").equals(rdma.items().get(item)) &&
                    rdma.items().keySet().stream().noneMatch(name -> name.startsWith(side.other() + " reset "));
        }
    },
    END_WAITS("`close()` and `shutdownOutput()` wait until flushed bytes have arrived") {
        @Override
        boolean explains(String item, Outcome rdma, String epoll, Program program) {
            String value = rdma.items().get(item);
            Side side = sideOf(item);
            if (side == null || epoll == null || value == null) {
                return false;
            }
            if (item.contains(" write ") && value.equals("ClosedChannelException")) {
                // The close has waited, as long as it does, for a peer that did not read.
                return epoll.equals("success") && rdma.unread().contains(side);
            }
            if (item.contains(" write ")) {
                return value.equals("success") && hasEnded(rdma, side) &&
                        (epoll.equals("ChannelOutputShutdownException") || epoll.equals("ClosedChannelException"));
            }
            if (item.endsWith(" register")) {
                // SslHandler closes the channel when its last write, which is in flight, is done.
                return program.setup().pipeline() == Program.Pipeline.TLS && value.equals("success") &&
                        epoll.equals("ClosedChannelException") &&
                        (hasEnded(rdma, side) || hasItem(rdma, side + " reset .*"));
            }
            return item.endsWith(" received bytes") && hasEnded(rdma, side.other()) &&
                    (Integer.parseInt(value) > Integer.parseInt(epoll) || rdma.unread().contains(side.other()));
        }

        private boolean hasEnded(Outcome outcome, Side side) {
            // The end of the input closes a channel without half closure.
            return hasEndedItself(outcome, side) || hasEndedItself(outcome, side.other()) &&
                    !outcome.items().get(side + " events").contains("ChannelInputShutdownEvent");
        }

        private boolean hasEndedItself(Outcome outcome, Side side) {
            return hasItem(outcome, side + " (close|last close|shutdownOutput).*");
        }

        private boolean hasItem(Outcome outcome, String name) {
            return outcome.items().keySet().stream().anyMatch(item -> item.matches(name));
        }
    };

    private static final String RESET = "exception IOException: Connection reset";

    private final String title;

    Difference(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    /**
     * Returns whether this is why an item is as it is.
     *
     * @param epoll the item on epoll, or {@code null} if there is none.
     */
    abstract boolean explains(String item, Outcome rdma, String epoll, Program program);

    private static Side sideOf(String item) {
        for (Side side : Side.values()) {
            if (item.startsWith(side.name())) {
                return side;
            }
        }
        return null;
    }
}
