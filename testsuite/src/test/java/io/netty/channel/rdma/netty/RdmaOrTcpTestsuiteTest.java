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
package io.netty.channel.rdma.netty;

import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Netty's testsuite on channels that decide when they connect: a client that takes RDMA and one that has TCP alone, at
 * a server that listens for both. Without TrafficShapingHandlerTest, which runs once a process: it shuts a static
 * executor down at its end. By default what is about connections; once there is one, the pipeline is the same as that
 * of the transport's own channel.
 */
@TestInstance(Lifecycle.PER_CLASS)
class RdmaOrTcpTestsuiteTest {
    private long before;

    @BeforeAll
    void chooseWhenConnecting() {
        before = connects();
        RdmaSocketTestPermutation.choose(true);
    }

    @AfterAll
    void connectOverRdma() {
        RdmaSocketTestPermutation.choose(false);
        // Clients whose channels have all fallen back to TCP would pass as well.
        assertThat(connects()).as("connects over RDMA").isGreaterThan(before);
    }

    private static long connects() {
        return RdmaOrTcpMetrics.total().connects(RdmaOrTcpTransport.RDMA);
    }

    @Nested
    class Addresses extends RdmaSocketAddressesTest { }

    @Nested
    class AutoRead extends RdmaSocketAutoReadTest { }

    @Nested
    class ChannelNotYetConnected extends RdmaSocketChannelNotYetConnectedTest { }

    @Nested
    class CloseForcibly extends RdmaSocketCloseForciblyTest { }

    @Nested
    class Connect extends RdmaSocketConnectTest { }

    @Nested
    class ConnectionAttempt extends RdmaSocketConnectionAttemptTest { }

    @Nested
    class HalfClosed extends RdmaSocketHalfClosedTest { }

    @Nested
    class MultipleConnect extends RdmaSocketMultipleConnectTest { }

    @Nested
    class ReadPending extends RdmaSocketReadPendingTest { }

    @Nested
    class Rst extends RdmaSocketRstTest { }

    @Nested
    class ShutdownOutputByPeer extends RdmaSocketShutdownOutputByPeerTest { }

    @Nested
    class ShutdownOutputBySelf extends RdmaSocketShutdownOutputBySelfTest { }

    @Nested
    class StartTls extends RdmaSocketStartTlsTest { }

    @Nested
    class WriteBeforeRegistered extends RdmaWriteBeforeRegisteredTest { }

    @Nested
    @Tag("all")
    class CompositeBufferGatheringWrite extends RdmaCompositeBufferGatheringWriteTest { }

    @Nested
    @Tag("all")
    class BufRelease extends RdmaSocketBufReleaseTest { }

    @Nested
    @Tag("all")
    class CancelWrite extends RdmaSocketCancelWriteTest { }

    @Nested
    @Tag("all")
    class ConditionalWritability extends RdmaSocketConditionalWritabilityTest { }

    @Nested
    @Tag("all")
    class DataReadInitialState extends RdmaSocketDataReadInitialStateTest { }

    @Nested
    @Tag("all")
    class Echo extends RdmaSocketEchoTest { }

    @Nested
    @Tag("all")
    class ExceptionHandling extends RdmaSocketExceptionHandlingTest { }

    @Nested
    @Tag("all")
    class FileRegion extends RdmaSocketFileRegionTest { }

    @Nested
    @Tag("all")
    class FixedLengthEcho extends RdmaSocketFixedLengthEchoTest { }

    @Nested
    @Tag("all")
    class GatheringWrite extends RdmaSocketGatheringWriteTest { }

    @Nested
    @Tag("all")
    class ObjectEcho extends RdmaSocketObjectEchoTest { }

    @Nested
    @Tag("all")
    class ReuseFd extends RdmaSocketReuseFdTest { }

    @Nested
    @Tag("all")
    class SpdyEcho extends RdmaSocketSpdyEchoTest { }

    @Nested
    @Tag("all")
    class SslEcho extends RdmaSocketSslEchoTest { }

    @Nested
    @Tag("all")
    class SslGreeting extends RdmaSocketSslGreetingTest { }

    @Nested
    @Tag("all")
    class SslSessionReuse extends RdmaSocketSslSessionReuseTest { }

    @Nested
    @Tag("all")
    class StringEcho extends RdmaSocketStringEchoTest { }
}
