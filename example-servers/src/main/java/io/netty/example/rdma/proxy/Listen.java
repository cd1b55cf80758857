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

import java.util.Locale;

/**
 * Where a proxy listens, and for what: {@code tcp:0.0.0.0:8080}, {@code rdma:10.0.0.1:8080}, {@code auto:0.0.0.0:8080}.
 *
 * @param transport with {@link ProxyTransport#AUTO} for RDMA and for TCP at one port, and where there is no RDMA for
 *                  TCP alone
 * @param address   with port 0 at any that is free
 */
public record Listen(ProxyTransport transport, HostAndPort address) {
    /** Reads one from the command line. */
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

    /** As written. */
    @Override
    public String toString() {
        return transport + ":" + address;
    }
}
