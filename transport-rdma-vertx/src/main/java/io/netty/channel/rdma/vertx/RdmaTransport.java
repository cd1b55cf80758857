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
package io.netty.channel.rdma.vertx;

import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.vertx.core.VertxBuilder;
import io.vertx.core.transport.Transport;

import java.util.LinkedHashMap;
import java.util.Map;

import static io.netty.util.internal.ObjectUtil.checkNotNull;

/**
 * RDMA as a transport of Vert.x 5, for {@link VertxBuilder#withTransport}:
 *
 * <pre>{@code
 * Vertx vertx = Vertx.builder().withTransport(RdmaTransport.rdma()).build();
 * }</pre>
 *
 * Its servers and clients of TCP and HTTP, with TLS or without it, are on RDMA then; datagram and Unix domain sockets
 * are those of epoll, on the same event loops. An application that can't be changed gets the transport by a system
 * property: see {@link #PROPERTY}. Nothing else chooses it: neither that this library is on the class path nor {@code
 * preferNativeTransport}.
 *
 * <p>Where RDMA is not available, Vert.x takes its NIO transport, as it does for each transport; a warning then says
 * why. {@link #available()} and {@link #unavailabilityCause()} tell beforehand.
 *
 * <p>Immutable. Any number of {@code Vertx} objects may have the same one.
 */
public final class RdmaTransport implements Transport {
    /**
     * The name of a system property that chooses the transport of all {@code Vertx} objects of the process, whatever
     * they ask for: {@code rdma}; or {@code tcp}, which is a transport of Vert.x's own where the application asks for
     * RDMA. Read when a {@code Vertx} is built, which fails if it has another value.
     */
    public static final String PROPERTY = "io.netty.rdma.vertx.transport";

    private static final RdmaTransport RDMA =
            new RdmaTransport(new RdmaIoHandlerConfig(), Map.of());

    private final RdmaIoHandlerConfig loops;
    private final Map<ChannelOption<?>, Object> options;
    private final RdmaTransportImplementation implementation;

    private RdmaTransport(RdmaIoHandlerConfig loops, Map<ChannelOption<?>, Object> options) {
        this.loops = loops;
        this.options = options;
        implementation = new RdmaTransportImplementation(loops, options);
    }

    /**
     * RDMA for each TCP socket.
     */
    public static RdmaTransport rdma() {
        return RDMA;
    }

    /**
     * Returns a transport with event loops that wait as this says.
     *
     * @param config read when a {@code Vertx} is made.
     */
    public RdmaTransport withLoops(RdmaIoHandlerConfig config) {
        return new RdmaTransport(checkNotNull(config, "config"), options);
    }

    /**
     * Returns a transport whose connections have this option too, those of clients as well as those of servers. It
     * replaces what Vert.x would set.
     *
     * @throws IllegalArgumentException if it is {@link ChannelOption#ALLOCATOR}: Vert.x releases what it reads only if
     *                                  that comes from an allocator of Netty's own.
     */
    public <T> RdmaTransport withOption(ChannelOption<T> option, T value) {
        if (checkNotNull(option, "option") == ChannelOption.ALLOCATOR) {
            throw new IllegalArgumentException("ALLOCATOR can't be set: Vert.x does not release what it reads " +
                    "if that comes from another allocator than Netty's own");
        }
        Map<ChannelOption<?>, Object> more = new LinkedHashMap<>(options);
        more.put(option, checkNotNull(value, "value"));
        return new RdmaTransport(loops, more);
    }

    /**
     * {@code rdma}.
     */
    @Override
    public String name() {
        return "rdma";
    }

    @Override
    public boolean available() {
        return implementation.unavailabilityCause() == null;
    }

    @Override
    public Throwable unavailabilityCause() {
        return implementation.unavailabilityCause();
    }

    @Override
    public io.vertx.core.spi.transport.Transport implementation() {
        return implementation;
    }

    @Override
    public String toString() {
        return "RdmaTransport(" + name() + ')';
    }
}
