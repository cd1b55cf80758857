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
package io.netty.channel.rdma.verbs;

/**
 * The other process of {@link TwoProcessesTest}: sends back 100 messages of 8 bytes, then posts receives and answers no
 * more, until it is killed.
 */
final class EchoPeer {
    static final int RECEIVES = 16;
    private static final int ECHOES = 100;

    private EchoPeer() { }

    /** Memory that the peer may write and read. */
    record Memory(long address, int rkey) {
        static Memory parse(String text) {
            String[] parts = text.split(" ");
            return new Memory(Long.parseLong(parts[0]), Integer.parseInt(parts[1]));
        }

        @Override
        public String toString() {
            return address + " " + rkey;
        }
    }

    public static void main(String[] arguments) throws Exception {
        EventChannel events = EventChannel.create();
        Endpoint end;
        if (arguments[0].equals("listen")) {
            ConnectionId listener = ConnectionId.create(events, PortSpace.TCP);
            listener.bind(TestSupport.address(0));
            listener.listen(1);
            System.out.println("PORT " + listener.localAddress().getPort());
            end = new Endpoint(TestSupport.event(events, ConnectionEventType.CONNECT_REQUEST).id());
            postReceives(end);
            end.id.accept(ConnectedPair.DEFAULTS);
        } else {
            end = new Endpoint(ConnectedPair.resolved(events, Integer.parseInt(arguments[1])));
            postReceives(end);
            end.id.connect(ConnectedPair.DEFAULTS);
        }
        TestSupport.event(events, ConnectionEventType.ESTABLISHED);
        System.out.println("ESTABLISHED 1");
        int echoes = 0;
        int sent = 0;
        WorkCompletions batch = new WorkCompletions(8);
        while (sent < ECHOES) {
            end.queue.poll(batch);
            for (int i = 0; i < batch.size(); i++) {
                if (!batch.isSuccess(i)) {
                    throw new IllegalStateException(batch.describe(i));
                }
                if (batch.opcode(i) == WorkCompletionOpcode.SEND) {
                    sent++;
                    continue;
                }
                int slot = (int) batch.workRequestId(i);
                end.send(0, slot * 8, 8);
                echoes++;
                end.receive(slot, slot * 8, 8);
            }
        }
        System.out.println("MEMORY " + new Memory(end.at(4096), end.region.rkey()));
        System.out.println("DEAF " + echoes);
        Thread.sleep(Long.MAX_VALUE);
    }

    private static void postReceives(Endpoint end) {
        for (int i = 0; i < RECEIVES; i++) {
            end.receive(i, i * 8, 8);
        }
    }
}
