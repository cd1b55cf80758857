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
package io.netty.example.rdma.proxy;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Locale;

/**
 * Settings of a proxy.
 *
 * @param listen        where the proxy takes connections
 * @param server        address of the server to which they go on
 * @param transport     transport of the connections to the server
 * @param connectMillis maximum time of a connect to the server, from 1
 * @param idleMillis    time after which a connection without any traffic is reset; 0 for never
 * @param quiet         whether to log only errors
 */
public record ProxySettings(Listen listen, InetSocketAddress server, ProxyTransport transport, int connectMillis,
                            long idleMillis, boolean quiet) {
    /**
     * Makes sure that the server is not the proxy itself. Otherwise each connection would cause another one, until
     * there are no file descriptors left.
     *
     * @throws IllegalArgumentException if the server is the proxy
     */
    public void check() throws IOException {
        InetSocketAddress own = listen.address().resolve();
        boolean ownAddress = own.getAddress().isAnyLocalAddress() ? isLocal(server.getAddress())
                : own.getAddress().equals(server.getAddress()) || server.getAddress().isAnyLocalAddress();
        if (ownAddress && own.getPort() == server.getPort() && transport.meets(listen.transport())) {
            throw new IllegalArgumentException("the server " + server.getAddress().getHostAddress() + ':'
                    + server.getPort() + ", reached by " + transport + ", may be this proxy itself, which listens at "
                    + listen + ": choose another port, or with --transport and --listen different transports");
        }
    }

    private static boolean isLocal(InetAddress address) throws SocketException {
        return address.isAnyLocalAddress() || address.isLoopbackAddress()
                || NetworkInterface.getByInetAddress(address) != null;
    }

    /**
     * Address and transport of a listener: {@code tcp:0.0.0.0:8080}, {@code rdma:10.0.0.1:8080}, {@code
     * auto:0.0.0.0:8080}.
     *
     * @param transport {@link ProxyTransport#AUTO} means RDMA and TCP at one port, and TCP alone where there is no RDMA
     * @param address   with port 0, any port that is free
     */
    public record Listen(ProxyTransport transport, HostAndPort address) {
        /** Parses a listener on the command line. */
        static final class Converter implements ITypeConverter<Listen> {
            @Override
            public Listen convert(String text) {
                String[] parts = text.split(":", 2);
                for (ProxyTransport transport : ProxyTransport.values()) {
                    if (parts.length == 2 && transport.toString().equals(parts[0].toLowerCase(Locale.ROOT))) {
                        return new Listen(transport, new HostAndPort.Converter().convert(parts[1]));
                    }
                }
                throw new TypeConversionException("'" + text
                        + "' does not start with tcp:, rdma: or auto: (expected: for example tcp:0.0.0.0:8080)");
            }
        }

        /** Returns the text on the command line. */
        @Override
        public String toString() {
            return transport + ":" + address;
        }
    }
}
