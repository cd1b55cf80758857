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

import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A host and a port, written as {@code localhost:8080} or {@code [::1]:8080}.
 *
 * @param host a name, or an address without brackets
 * @param port 0 to 65535
 */
public record HostAndPort(String host, int port) {
    private static final Pattern TEXT = Pattern.compile("(?:\\[([^\\[\\]]+)]|([^\\[\\]:]+)):(\\d{1,5})");
    private static final int MAX_PORT = 65_535;

    /** Parses a host and a port on the command line. */
    static final class Converter implements ITypeConverter<HostAndPort> {
        @Override
        public HostAndPort convert(String text) {
            Matcher matcher = TEXT.matcher(text);
            if (!matcher.matches() || Integer.parseInt(matcher.group(3)) > MAX_PORT) {
                throw new TypeConversionException("'" + text
                        + "' is no host and port (expected: for example localhost:8080 or [::1]:8080)");
            }
            String host = matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
            return new HostAndPort(host, Integer.parseInt(matcher.group(3)));
        }
    }

    /**
     * Resolves the host.
     *
     * @throws UnknownHostException if it has no address
     */
    public InetSocketAddress resolve() throws UnknownHostException {
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new UnknownHostException(host + ": the name has no address");
        }
        return address;
    }

    /** Returns the text on the command line. */
    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : '[' + host + ']') + ':' + port;
    }
}
