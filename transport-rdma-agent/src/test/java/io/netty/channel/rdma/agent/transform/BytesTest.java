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

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThat;

class BytesTest {
    @Test
    void patternIsFoundWhereverItIs() {
        for (String text : new String[] {"io/netty/", "io/netty/x", "xio/netty/", "io/io/netty/", "io/nettyio/netty/",
                "\u00ff\u00fe\u0080io/netty/\u00e9"}) {
            assertThat(Bytes.contains(bytes(text), bytes("io/netty/"))).as(text).isTrue();
        }
        assertThat(Bytes.contains(bytes("a\u00e9b"), bytes("\u00e9"))).isTrue();
    }

    @Test
    void whatIsNotThereIsNotFound() {
        for (String text : new String[] {"", "io/netty", "o/netty/", "io/netti/", "\u00ff/netty/", "io/nettyio/n"}) {
            assertThat(Bytes.contains(bytes(text), bytes("io/netty/"))).as(text).isFalse();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
