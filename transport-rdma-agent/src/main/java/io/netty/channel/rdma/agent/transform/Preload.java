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
package io.netty.channel.rdma.agent.transform;

/**
 * A thread that loads and links classes of the transport while the program still starts, so that its first event loop
 * and channel do not wait for the reading and verification of some 150 classes. No class is initialized: two threads
 * that initialize classes which need each other wait for each other for ever (JLS 12.4.2).
 */
final class Preload {
    static final String PACKAGE = "io.netty.channel.";
    /** Classes whose fields and methods have the types of nearly all that the first channels need. */
    static final String[] CLASSES = {
        "epoll.EpollSocketChannel", "epoll.EpollServerSocketChannel", "epoll.EpollIoHandler", "rdma.agent.hooks.Swaps",
        "rdma.RdmaIoHandler", "rdma.verbs.VerbsApi", "rdma.loop.LoopHandler", "rdma.RdmaByteBufAllocator",
        "rdma.ortcp.RdmaOrTcpServerSocketChannel", "rdma.RdmaServerSocketChannel",
        "rdma.RdmaServerSocketChannelConfig", "rdma.RdmaChannelOption",
    };

    private Preload() { }

    static void start(ClassLoader loader) {
        Thread thread = new Thread(() -> load(loader), "netty-transport-rdma-agent-preload");
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    private static void load(ClassLoader loader) {
        for (String name : CLASSES) {
            try {
                // HotSpot links a class before it lists its methods.
                Class<?> type = Class.forName(PACKAGE + name, false, loader);
                type.getDeclaredMethods();
                for (Class<?> nested : type.getDeclaredClasses()) {
                    nested.getDeclaredMethods();
                }
            } catch (ClassNotFoundException | LinkageError e) {
                // The program meets the same when it needs the class, and tells it.
            }
        }
    }
}
