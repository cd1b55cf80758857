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
package io.netty.example.rdma.gpu;

import java.util.Locale;

/** Ways in which the bytes of a tensor go from one process to the other. */
public enum Way {
    /** RDMA between memory of graphics processors. */
    GPU("memory of a graphics processor, RDMA"),
    /** The same, with tensors in memory of the host. */
    HOST("memory of the host, RDMA"),
    /** A copy to the host, a TCP connection, and a copy to the processor. */
    COPY("memory of a graphics processor, copies and TCP");

    private final String text;

    Way(String text) {
        this.text = text;
    }

    /** For people. */
    String text() {
        return text;
    }

    /** As the option has it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
