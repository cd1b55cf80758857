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

import org.junit.platform.suite.api.ExcludeClassNamePatterns;
import org.junit.platform.suite.api.IncludeClassNamePatterns;
import org.junit.platform.suite.api.SelectPackages;
import org.junit.platform.suite.api.Suite;

/**
 * The classes of epoll's own jar of tests that take their event loops from {@link EpollSocketTestPermutation}: sockets,
 * domain sockets and datagrams, on the loops of the RDMA transport.
 *
 * <p>Not of them: the 192 combinations of TLS engines and options of each {@code SslEchoTest}, which run on RDMA
 * channels as well and would take longer than all else together; renegotiation, which BoringSSL does not do; and two
 * that need more of the network than each machine has: an address of the Internet that never answers, and a route for
 * IPv6 multicast.
 */
@Suite
@SelectPackages("io.netty.channel.epoll")
@IncludeClassNamePatterns(".*\\.Epoll(Socket|CompositeBuffer|Write|ReuseAddr|Datagram|Domain|Abstract).*Test")
@ExcludeClassNamePatterns({ ".*\\.Epoll.*ConfigTest", ".*\\.Epoll(Domain)?DatagramChannelTest",
        ".*\\.EpollSocket(|Channel|StringEchoBusyWait|TcpMd5)Test", ".*Ssl(Echo|ClientRenegotiate)Test",
        ".*\\.EpollSocketConnectionAttemptTest", ".*\\.EpollDatagramMulticastIpv6WithIpv4AddrTest" })
class EpollTestsuiteOnRdmaLoopsTest {
}
