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
package io.netty.channel.rdma.message;

import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;

import static io.netty.channel.rdma.message.DatagramEnd.ascii;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Groups: who joins, who receives, and who leaves.
 */
@Tag("quick")
class RdmaDatagramMulticastTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private final InetAddress group = TestAddress.anyGroup();
    private final InetAddress otherGroup = TestAddress.anyGroup();

    @BeforeEach
    void assumeMulticast() throws Exception {
        try (DatagramEnd end = end()) {
            assumeTrue(end.channel.capabilities().supportsMulticast(), "the device has no multicast");
        }
    }

    private static DatagramEnd end() throws Exception {
        return new DatagramEnd(loops.group());
    }

    private static RdmaDatagramAddress join(DatagramEnd end, InetAddress address) throws Exception {
        return TestTimeouts.sync(end.channel.joinGroup(address)).getNow();
    }

    private static InetSocketAddress to(InetAddress address) {
        return new InetSocketAddress(address, 1);
    }

    @Test
    void membersReceiveWithTheSenderAsLongAsTheyAreMembers() throws Exception {
        try (DatagramEnd first = end(); DatagramEnd second = end(); DatagramEnd sender = end()) {
            join(first, group);
            join(second, group);
            join(sender, group);
            sender.send("to all", to(group));
            for (DatagramEnd member : new DatagramEnd[] { first, second, sender }) {
                RdmaDatagram datagram = member.datagram();
                assertThat(((InetSocketAddress) datagram.recipient()).getAddress()).isEqualTo(group);
                assertThat(((RdmaDatagramAddress) datagram.sender()).queuePairNumber())
                        .isEqualTo(sender.channel.datagramAddress().queuePairNumber());
                if (member == first) {
                    first.send("to you alone", datagram.sender());
                }
                datagram.release();
            }
            assertThat(sender.text()).isEqualTo("to you alone");

            TestTimeouts.sync(second.channel.leaveGroup(group));
            sender.send("to those who stayed", to(group));
            assertThat(first.text()).isEqualTo("to those who stayed");
            sender.send("not by the group", second.address());
            assertThat(second.text()).isEqualTo("not by the group");
            join(second, group);
            sender.send("again", to(group));
            assertThat(second.text()).isEqualTo("again");
        }
    }

    @Test
    void groupsOfOneChannelAreToldApart() throws Exception {
        try (DatagramEnd member = end(); DatagramEnd sender = end()) {
            join(member, group);
            join(member, otherGroup);
            RdmaDatagramAddress target = join(sender, otherGroup);
            assertThat(target.isGroup()).isTrue();
            join(sender, group);
            sender.send("one", target);
            sender.send("two", to(group));
            for (InetAddress expected : new InetAddress[] { otherGroup, group }) {
                RdmaDatagram datagram = member.datagram();
                assertThat(((InetSocketAddress) datagram.recipient()).getAddress()).isEqualTo(expected);
                datagram.release();
            }
        }
    }

    @Test
    void whoHasNotJoinedCanNotSend() throws Exception {
        try (DatagramEnd end = end()) {
            Throwable failure = end.failure(new RdmaDatagram(ascii("?"), to(group)));
            assertThat(failure).isInstanceOf(RdmaMulticastException.class).hasMessageContaining(group.getHostAddress());
            assertThat(((RdmaMulticastException) failure).group()).isEqualTo(group);
            assertThat(TestTimeouts.await(end.channel.leaveGroup(group)).cause())
                    .isInstanceOf(IllegalStateException.class);
            assertThat(TestTimeouts.await(end.channel.joinGroup(InetAddress.getByName("10.1.2.3"))).cause())
                    .isInstanceOf(IllegalArgumentException.class);
            join(end, group);
            assertThat(TestTimeouts.await(end.channel.joinGroup(group)).cause())
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("already");
            assertThat(TestTimeouts.await(end.channel.connect(to(group))).cause())
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @Test
    void joinBeyondTheMembersThatTheDeviceHasFailsAndWorksLater() throws Exception {
        int most;
        try (Device device = Device.open(Device.names().get(0))) {
            most = device.attributes().maxMulticastMembers();
        }
        assumeTrue(most <= 1024, "the device has " + most + " members of a group");
        List<DatagramEnd> members = new ArrayList<>();
        try (DatagramEnd late = end()) {
            for (int i = 0; i < most; i++) {
                members.add(new DatagramEnd(loops.group(), TestAddress.anyPort(),
                        b -> b.option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16)));
                join(members.get(i), group);
            }
            Throwable failure = TestTimeouts.await(late.channel.joinGroup(group)).cause();
            assertThat(failure).isInstanceOf(RdmaMulticastException.class).hasMessageContaining("can't be joined");
            assertThat(((RdmaMulticastException) failure).group()).isEqualTo(group);
            late.send("to myself", late.address());
            assertThat(late.text()).isEqualTo("to myself");

            members.remove(most - 1).close();
            join(late, group);
            late.send("a member now", to(group));
            assertThat(late.text()).isEqualTo("a member now");
        } finally {
            members.forEach(DatagramEnd::close);
        }
    }

    @Test
    void closeLeavesGroupsAlsoThoseThatAreAboutToBeJoined() throws Exception {
        int rounds = 5;
        if (VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED) {
            // Members that stay would be too many then.
            try (Device device = Device.open(Device.names().get(0))) {
                rounds = device.attributes().maxMulticastMembers() + 1;
            }
        }
        for (int i = 0; i < rounds; i++) {
            DatagramEnd end = end();
            join(end, group);
            Future<RdmaDatagramAddress> joining = end.channel.joinGroup(otherGroup);
            end.close();
            TestTimeouts.await(joining);
            assertThat(TestTimeouts.await(end.channel.joinGroup(group)).cause())
                    .isInstanceOf(ClosedChannelException.class);
        }
        try (DatagramEnd end = end()) {
            join(end, group);
            join(end, otherGroup);
        }
    }
}
