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
package io.netty.channel.rdma.ortcp;

import io.netty.channel.ConnectTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reasons whose exceptions have no public constructor are made by the integration tests.
 */
@Tag("quick")
class RdmaOrTcpFallbackTest {
    @Test
    void ioErrorsFallBack() {
        assertThat(RdmaOrTcpFallback.Reason.of(new UnsatisfiedLinkError()))
                .isEqualTo(RdmaOrTcpFallback.Reason.UNAVAILABLE);
        assertThat(RdmaOrTcpFallback.Reason.of(new NoRouteToHostException()))
                .isEqualTo(RdmaOrTcpFallback.Reason.NO_ROUTE);
        assertThat(RdmaOrTcpFallback.Reason.of(new ConnectTimeoutException()))
                .isEqualTo(RdmaOrTcpFallback.Reason.TIMEOUT);
        assertThat(RdmaOrTcpFallback.Reason.of(new ConnectException())).isEqualTo(RdmaOrTcpFallback.Reason.FAILED);
        assertThat(RdmaOrTcpFallback.Reason.of(new BindException())).isEqualTo(RdmaOrTcpFallback.Reason.FAILED);
        assertThat(RdmaOrTcpFallback.Reason.of(new IOException())).isEqualTo(RdmaOrTcpFallback.Reason.FAILED);
        assertThat(RdmaOrTcpFallback.Reason.of(new OutOfMemoryError("expected in this test")))
                .isEqualTo(RdmaOrTcpFallback.Reason.FAILED);
    }

    @Test
    void everythingElseDoesNot() {
        assertThat(RdmaOrTcpFallback.Reason.of(new ClosedChannelException())).isNull();
        assertThat(RdmaOrTcpFallback.Reason.of(new CancellationException())).isNull();
        assertThat(RdmaOrTcpFallback.Reason.of(new RejectedExecutionException())).isNull();
        assertThat(RdmaOrTcpFallback.Reason.of(new IllegalArgumentException())).isNull();
        assertThat(RdmaOrTcpFallback.Reason.of(new StackOverflowError())).isNull();
    }
}
