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
package io.netty.example.rdma.datagrams;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaCapabilities;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.channel.rdma.verbs.Device;
import io.netty.example.rdma.datagrams.DatagramClient.Pinger;
import io.netty.example.rdma.datagrams.DatagramServer.Ponger;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.example.rdma.verbs.Result;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Timeout(180)
class DatagramsTest {
    private static final int COUNT = 500;
    private static final int SIZE = 100;
    private static final int RATE = 2000;
    private static final int LEAVE_AFTER = 50;

    private EventLoopGroup loops;

    @BeforeEach
    void start() throws Exception {
        RdmaCapabilities capabilities = RdmaCapabilities.of(Device.names().get(0));
        assumeTrue(capabilities.supportsDatagrams(), "the device has no datagrams");
        loops = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
    }

    @AfterEach
    void stop() throws Exception {
        if (loops != null) {
            TestTimeouts.shutdown(loops);
        }
    }

    @Test
    void everyDatagramComesBack() throws Exception {
        Ponger ponger = new Ponger();
        InetSocketAddress server = bind(ponger).localAddress();
        Pinger pinger = new Pinger(server, COUNT, SIZE);
        bind(pinger).pipeline().fireUserEventTriggered(DatagramEnd.READY);
        Result sent = TestTimeouts.result(pinger.result());
        assertThat(sent.wrong()).isZero();
        assertThat(sent.count()).isEqualTo(COUNT);
        assertThat(sent.bytes()).isEqualTo(SIZE);
        assertThat(sent.what()).startsWith("datagrams there and back, ");
        Result answered = TestTimeouts.result(ponger.result());
        assertThat(answered.wrong()).isZero();
        assertThat(answered.count()).isEqualTo(COUNT);
    }

    @Test
    void subscribersLeaveAndComeInTheMiddle() throws Exception {
        assumeTrue(RdmaCapabilities.of(Device.names().get(0)).supportsMulticast(), "the device has no multicast");
        InetAddress group = TestAddress.anyGroup();
        AtomicBoolean lateHasJoined = new AtomicBoolean();
        Publisher publisher = new Publisher(new InetSocketAddress(group, 0), 2, COUNT, SIZE, RATE) {
            @Override
            long due(long nanos) {
                return Math.min(super.due(nanos), lateHasJoined.get() ? COUNT : 2 * LEAVE_AFTER);
            }
        };
        Subscriber staying = new Subscriber(group, 0);
        Subscriber leaving = new Subscriber(group, LEAVE_AFTER);
        join(group, staying);
        join(group, leaving);
        join(group, publisher);
        Result left = TestTimeouts.result(leaving.result());
        assertThat(left.what()).isEqualTo("subscribed, and left in the middle");
        assertThat(left.count()).isEqualTo(LEAVE_AFTER);
        assertThat(left.wrong()).isZero();
        Subscriber late = new Subscriber(group, 0);
        join(group, late);
        lateHasJoined.set(true);
        Result all = TestTimeouts.result(staying.result());
        assertThat(all.wrong()).isZero();
        assertThat(all.what()).startsWith("subscribed, ");
        Result rest = TestTimeouts.result(late.result());
        assertThat(rest.wrong()).isZero();
        assertThat(rest.count()).isBetween(1L, (long) COUNT - LEAVE_AFTER);
        Result published = TestTimeouts.result(publisher.result());
        assertThat(published.what()).isEqualTo("published to 3 subscribers");
        assertThat(published.count()).isEqualTo(COUNT);
    }

    private void join(InetAddress group, DatagramEnd end) throws Exception {
        RdmaDatagramChannel channel = bind(end);
        channel.joinGroup(group).sync();
        channel.pipeline().fireUserEventTriggered(DatagramEnd.READY);
    }

    private RdmaDatagramChannel bind(DatagramEnd end) throws Exception {
        return (RdmaDatagramChannel) new Bootstrap().group(loops).channel(RdmaDatagramChannel.class).handler(end)
                .bind(RunningServer.HOST, 0).sync().channel();
    }
}
