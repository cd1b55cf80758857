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
package io.netty.channel.rdma.agent.options;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("quick")
class AgentOptionsTest {
    @Test
    void listGoesOnUntilTheNextOption() {
        AgentOptions options = AgentOptions.parse("clients=!*:5432,10.0.0.0/8,verbose,servers=*:8080,require");
        assertThat(options.clients()).extracting(AddressPattern::toString).containsExactly("!*:5432", "10.0.0.0/8");
        assertThat(options.servers()).extracting(AddressPattern::toString).containsExactly("*:8080");
        assertThat(options.isVerbose()).isTrue();
        assertThat(options.isRequire()).isTrue();
        assertThat(options.isOff()).isFalse();
        assertThat(AgentOptions.parse("off").isOff()).isTrue();
        assertThat(AgentOptions.parse(null).clients()).isEmpty();
        assertThat(AgentOptions.parse("").servers()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = { "of", "client=*", "*:80", "verbose,", "servers=", "servers=*:80,,off", "servers=*:65536",
            "servers=*:9-8", "servers=host/8", "servers=10.0.0.0/33", "servers=10.0.0.300", "servers=*:x",
            "servers=[::1", "clients=!" })
    void mistakeIsNamed(String arguments) {
        assertThatThrownBy(() -> AgentOptions.parse(arguments)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
            // no pattern
            "; 10.1.2.3; 80; true",
            // ports
            "*:80; 10.1.2.3; 80; true", "*:80; 10.1.2.3; 81; false", "*:80-82; 10.1.2.3; 82; true",
            "!*:80; 10.1.2.3; 80; false", "!*:80; 10.1.2.3; 81; true",
            // the first that matches
            "!10.1.2.3,10.0.0.0/8; 10.1.2.3; 80; false", "!10.1.2.3,10.0.0.0/8; 10.1.2.4; 80; true",
            "10.0.0.0/8,!10.1.2.3; 10.1.2.3; 80; true", "10.0.0.0/8,!10.1.2.3; 11.1.2.3; 80; false",
            // networks
            "10.1.0.0/15; 10.0.255.255; 80; true", "10.1.0.0/15; 10.2.0.0; 80; false", "0.0.0.0/0; 1.2.3.4; 1; true",
            "10.1.2.3; 10.1.2.3; 9; true", "10.1.2.3; 10.1.2.2; 9; false", "0.0.0.0/0; ::1; 1; false",
            "[fe80::]/10:443; fe80::1; 443; true", "[fe80::]/10:443; fe80::1; 80; false", "[::1]; ::1; 80; true",
            "[fe80::]/10; ff80::1; 443; false",
    })
    void firstPatternThatMatchesDecides(String patterns, String host, int port, boolean allowed)
            throws UnknownHostException {
        assertThat(AddressPattern.allows(parse(patterns), new InetSocketAddress(InetAddress.getByName(host), port)))
                .isEqualTo(allowed);
    }

    @Test
    void nameIsTheOneOfTheApplication() throws UnknownHostException {
        List<AddressPattern> patterns = parse("!db.example:5432");
        InetAddress address = InetAddress.getByAddress("DB.example", new byte[] {10, 0, 0, 1});
        assertThat(AddressPattern.allows(patterns, new InetSocketAddress(address, 5432))).isFalse();
        assertThat(AddressPattern.allows(patterns, new InetSocketAddress(address, 5433))).isTrue();
        assertThat(AddressPattern.allows(patterns, InetSocketAddress.createUnresolved("db.example", 5432))).isFalse();
        assertThat(AddressPattern.allows(parse("!10.0.0.0/8"),
                InetSocketAddress.createUnresolved("db.example", 5432))).isTrue();
    }

    private static List<AddressPattern> parse(String patterns) {
        return patterns == null ? List.of() : Arrays.stream(patterns.split(",")).map(AddressPattern::parse).toList();
    }
}
