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
package io.netty.channel.rdma.chaos;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.PeerProcess;
import io.netty.channel.rdma.verbs.VerbsResource;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The process that is stopped and killed: a {@link ChaosNode} connected to that of the test.
 */
final class ChaosPeer {
    /** Standard input: wait until all connections have ended, then end in an orderly way, and print {@link #ENDED}. */
    static final String END = "end";
    /** Standard input: exit with the connections as they are. */
    static final String EXIT = "exit";
    static final String ENDED = "ENDED";

    private ChaosPeer() {
    }

    /** Seed, connections of each kind, and the ports of the other node. */
    public static void main(String[] args) throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        ChaosNode node = new ChaosNode(group, Long.parseLong(args[0]));
        System.out.println(PeerProcess.READY + node.ports());
        node.connect(args[2], Integer.parseInt(args[1]));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = input.readLine();
        if (END.equals(line)) {
            try {
                node.awaitEnd();
                node.close();
                TestTimeouts.shutdown(group);
                for (VerbsResource kind : new VerbsResource[] {VerbsResource.QUEUE_PAIR, VerbsResource.CONNECTION_ID,
                        VerbsResource.COMPLETION_QUEUE, VerbsResource.COMPLETION_CHANNEL}) {
                    assertThat(kind.live()).as("live: " + kind).isZero();
                }
                System.out.println(ENDED);
                System.exit(0);
            } catch (Throwable e) {
                e.printStackTrace();
            }
        }
        System.exit(EXIT.equals(line) ? 0 : 1);
    }
}
