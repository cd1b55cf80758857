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
package io.grpc.testing.integration;

import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.testing.TlsTesting;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * With what an application sets beside the transport. By default TLS alone, which is what handlers see most of.
 */
class RdmaGrpcVariantsInteropTest extends RdmaGrpcInterop {
    @TestFactory
    @Tag("all")
    Stream<DynamicTest> autoWindow() {
        return testsOf(AutoWindow.class);
    }

    @TestFactory
    @Tag("all")
    Stream<DynamicTest> retry() {
        return testsOf(Retry.class);
    }

    @TestFactory
    @Tag("all")
    Stream<DynamicTest> tlsOfTheJdk() {
        return testsOf(JdkTls.class);
    }

    @TestFactory
    Stream<DynamicTest> tlsOfOpenSsl() {
        return testsOf(OpenSslTls.class);
    }

    public static final class AutoWindow extends Plain {
        @Override
        protected NettyServerBuilder getServerBuilder() {
            return super.getServerBuilder().initialFlowControlWindow(NettyServerBuilder.DEFAULT_FLOW_CONTROL_WINDOW);
        }

        @Override
        protected NettyChannelBuilder createChannelBuilder() {
            return super.createChannelBuilder()
                    .initialFlowControlWindow(NettyChannelBuilder.DEFAULT_FLOW_CONTROL_WINDOW);
        }
    }

    /** Each call keeps what it has sent, to send it again to a server that is not there. */
    public static final class Retry extends Plain {
        @Override
        protected NettyChannelBuilder createChannelBuilder() {
            Map<String, ?> policy = Map.of("maxAttempts", 4.0, "initialBackoff", "0.1s", "maxBackoff", "1s",
                    "backoffMultiplier", 2.0, "retryableStatusCodes", List.of("UNAVAILABLE"));
            return super.createChannelBuilder().enableRetry().defaultServiceConfig(Map.of("methodConfig",
                    List.of(Map.of("name", List.of(Map.of("service", TestServiceGrpc.SERVICE_NAME)),
                            "retryPolicy", policy))));
        }
    }

    private abstract static class Tls extends Plain {
        abstract SslProvider engine();

        @Override
        protected NettyServerBuilder getServerBuilder() {
            try {
                return super.getServerBuilder().sslContext(GrpcSslContexts.configure(
                        SslContextBuilder.forServer(TlsTesting.loadCert("server1.pem"),
                                TlsTesting.loadCert("server1.key")), engine())
                        .trustManager(TlsTesting.loadCert("ca.pem")).clientAuth(ClientAuth.REQUIRE).build());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        protected NettyChannelBuilder createChannelBuilder() {
            try {
                // The name in the certificate.
                return super.createChannelBuilder().overrideAuthority("foo.test.google.fr").useTransportSecurity()
                        .sslContext(GrpcSslContexts.configure(SslContextBuilder.forClient(), engine())
                                .keyManager(TlsTesting.loadCert("client.pem"), TlsTesting.loadCert("client.key"))
                                .trustManager(TlsTesting.loadCert("ca.pem")).build());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        @org.junit.Test
        public void serverKnowsTheClientsCertificate() {
            assertX500SubjectDn("CN=testclient, O=Internet Widgits Pty Ltd, ST=Some-State, C=AU");
        }
    }

    public static final class JdkTls extends Tls {
        @Override
        SslProvider engine() {
            return SslProvider.JDK;
        }
    }

    public static final class OpenSslTls extends Tls {
        @Override
        SslProvider engine() {
            return SslProvider.OPENSSL;
        }
    }
}
