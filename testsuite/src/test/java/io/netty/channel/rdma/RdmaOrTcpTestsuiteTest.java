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
package io.netty.channel.rdma;

import org.junit.platform.suite.api.AfterSuite;
import org.junit.platform.suite.api.BeforeSuite;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/**
 * Netty's testsuite on channels that decide when they connect: a client that takes RDMA and one that has TCP alone, at
 * a server that listens for both. Without TrafficShapingHandlerTest, which runs once a process: it shuts a static
 * executor down at its end.
 */
@Suite
@SelectClasses({
        RdmaCompositeBufferGatheringWriteTest.class,
        RdmaSocketAddressesTest.class,
        RdmaSocketAutoReadTest.class,
        RdmaSocketBufReleaseTest.class,
        RdmaSocketCancelWriteTest.class,
        RdmaSocketChannelNotYetConnectedTest.class,
        RdmaSocketCloseForciblyTest.class,
        RdmaSocketConditionalWritabilityTest.class,
        RdmaSocketConnectTest.class,
        RdmaSocketConnectionAttemptTest.class,
        RdmaSocketDataReadInitialStateTest.class,
        RdmaSocketEchoTest.class,
        RdmaSocketExceptionHandlingTest.class,
        RdmaSocketFileRegionTest.class,
        RdmaSocketFixedLengthEchoTest.class,
        RdmaSocketGatheringWriteTest.class,
        RdmaSocketHalfClosedTest.class,
        RdmaSocketMultipleConnectTest.class,
        RdmaSocketObjectEchoTest.class,
        RdmaSocketReadPendingTest.class,
        RdmaSocketReuseFdTest.class,
        RdmaSocketRstTest.class,
        RdmaSocketShutdownOutputByPeerTest.class,
        RdmaSocketShutdownOutputBySelfTest.class,
        RdmaSocketSpdyEchoTest.class,
        RdmaSocketSslClientRenegotiateTest.class,
        RdmaSocketSslEchoTest.class,
        RdmaSocketSslGreetingTest.class,
        RdmaSocketSslSessionReuseTest.class,
        RdmaSocketStartTlsTest.class,
        RdmaSocketStringEchoTest.class,
        RdmaWriteBeforeRegisteredTest.class
})
final class RdmaOrTcpTestsuiteTest {
    private RdmaOrTcpTestsuiteTest() {
    }

    @BeforeSuite
    static void chooseWhenConnecting() {
        RdmaSocketTestPermutation.choose(true);
    }

    @AfterSuite
    static void connectOverRdma() {
        RdmaSocketTestPermutation.choose(false);
    }
}
