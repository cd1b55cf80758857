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
package io.netty.channel.epoll;

import org.junit.platform.suite.api.AfterSuite;
import org.junit.platform.suite.api.BeforeSuite;
import org.junit.platform.suite.api.ExcludeClassNamePatterns;
import org.junit.platform.suite.api.IncludeClassNamePatterns;
import org.junit.platform.suite.api.SelectPackages;
import org.junit.platform.suite.api.Suite;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The classes of epoll's own jar of tests, on the loops of the RDMA transport: they take them from
 * {@link EpollSocketTestPermutation}, or {@link RdmaLoops} sees to it. What is left out, and why, is in
 * {@code docs/testsuite.md}.
 */
@Suite
@SelectPackages("io.netty.channel.epoll")
@IncludeClassNamePatterns(".*Test")
@ExcludeClassNamePatterns({ ".*OnRdmaLoopsTest",
        // No event loop of epoll's.
        ".*\\.(Native|LinuxSocket|Epoll|EpollSocket|EpollKQueueIovArray|EpollDomainDatagramChannel)Test",
        ".*\\.Epoll(Datagram)?ChannelConfigTest", ".*\\.EpollDatagramMulticastIpv6WithIpv4AddrTest",
        // Classes that abort, whatever the engine: BoringSSL does not renegotiate.
        ".*SslClientRenegotiateTest",
        // Subclasses of these run.
        ".*\\.EpollEventLoopTest", ".*SslEchoTest" })
final class EpollTestsuiteOnRdmaLoopsTest {
    private EpollTestsuiteOnRdmaLoopsTest() {
    }

    @BeforeSuite
    static void takeEventLoopsFromRdmaTransport() throws NoSuchMethodException {
        RdmaLoops.substitute();
    }

    /** The tests would pass on the loops of epoll as well. */
    @AfterSuite
    static void testsHaveTakenThem() {
        assertThat(RdmaLoops.errors()).isEmpty();
        assertThat(RdmaLoops.made()).isPositive();
    }
}
