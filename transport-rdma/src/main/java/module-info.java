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

/**
 * Channels over RDMA. The packages that it exports are the API, which docs/api.md lists. Its native library is in a
 * module of its own, {@code io.netty.transport.rdma.linux.x86_64} or {@code io.netty.transport.rdma.linux.aarch_64},
 * that the application requires, as with Netty's epoll transport.
 */
@SuppressWarnings("module") // that it exports a package to is built after it
module io.netty.transport.rdma {
    requires transitive io.netty.common;
    requires transitive io.netty.buffer;
    requires transitive io.netty.resolver;
    requires transitive io.netty.transport;
    requires io.netty.transport.unix.common;
    requires io.netty.transport.classes.epoll;
    requires static transitive java.management;
    requires static jdk.jfr;

    exports io.netty.channel.rdma;
    exports io.netty.channel.rdma.message;
    exports io.netty.channel.rdma.metrics;
    exports io.netty.channel.rdma.ortcp;
    exports io.netty.channel.rdma.verbs;
    exports io.netty.channel.rdma.stream to io.netty.transport.rdma.valkey;
}
