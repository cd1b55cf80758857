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

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import io.grpc.netty.InternalNettyChannelBuilder;
import io.grpc.netty.InternalNettyServerBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.grpc.RdmaGrpc;
import org.junit.Rule;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.rules.TestRule;
import org.junit.rules.Timeout;
import org.junit.runner.Description;
import org.junit.runner.Request;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;
import org.junit.runner.notification.RunNotifier;
import org.opentest4j.TestAbortedException;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * gRPC's own tests of its transports, with servers and clients that {@link RdmaGrpc} has configured. They are tests of
 * JUnit 4; each is run from here, so that what they leave open is looked for as everywhere. In this package, since the
 * port of the server is for this package only.
 */
abstract class RdmaGrpcInterop {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private static long bytesBefore;

    @BeforeAll
    static void countBytes() {
        bytesBefore = bytesReceived();
    }

    @AfterAll
    static void messagesWentOverRdma() {
        long bytes = bytesReceived() - bytesBefore;
        assertTrue(bytes > 1 << 20, () -> bytes + " bytes received by RDMA");
    }

    /**
     * In place and copied: gRPC keeps the frames of a message until it has the last one, and of messages longer than
     * the receive memory, how much is copied depends on how quickly they arrive.
     */
    private static long bytesReceived() {
        return RdmaMetrics.total().bytesReceivedInPlace() + RdmaMetrics.total().bytesReceivedCopied();
    }

    static Stream<DynamicTest> testsOf(Class<? extends AbstractInteropTest> tests) {
        return testsOf(tests, name -> true);
    }

    static Stream<DynamicTest> testsOf(Class<? extends AbstractInteropTest> tests, Predicate<String> names) {
        return Request.aClass(tests).getRunner().getDescription().getChildren().stream()
                .filter(test -> names.test(test.getMethodName()))
                .map(test -> DynamicTest.dynamicTest(test.getMethodName(), () -> run(test)));
    }

    private static void run(Description test) throws Throwable {
        Outcome outcome = new Outcome();
        RunNotifier notifier = new RunNotifier();
        notifier.addListener(outcome);
        Request.method(test.getTestClass(), test.getMethodName()).getRunner().run(notifier);
        if (outcome.failure != null) {
            throw outcome.failure;
        }
        assertTrue(outcome.finished, "did not run");
    }

    private static final class Outcome extends RunListener {
        private Throwable failure;
        private boolean finished;

        @Override
        public void testFailure(Failure failure) {
            this.failure = failure.getException();
        }

        @Override
        public void testAssumptionFailure(Failure failure) {
            this.failure = new TestAbortedException(failure.getMessage(), failure.getException());
        }

        @Override
        public void testIgnored(Description description) {
            failure = new TestAbortedException("ignored: " + description);
        }

        @Override
        public void testFinished(Description description) {
            finished = true;
        }
    }

    public static class Plain extends AbstractInteropTest {
        /** JUnit takes it for that of the superclass, of the same name, whose 90 s are meant for hardware. */
        @Rule
        public final TestRule globalTimeout = Timeout.seconds(90L * TestTimeouts.MULTIPLIER);

        /** Maximum time of an answer. The 7 s of the superclass are meant for hardware, too. */
        @Override
        protected int operationTimeoutMillis() {
            return (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS);
        }

        @Override
        protected NettyServerBuilder getServerBuilder() {
            NettyServerBuilder builder = RdmaGrpc.of(LOOPS.group())
                    .configure(NettyServerBuilder.forAddress(new InetSocketAddress(TestAddress.HOST, 0)))
                    .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                    .maxInboundMessageSize(MAX_MESSAGE_SIZE);
            // The tests have a tracer of their own.
            InternalNettyServerBuilder.setStatsEnabled(builder, false);
            return builder.addStreamTracerFactory(createCustomCensusTracerFactory());
        }

        @Override
        protected NettyChannelBuilder createChannelBuilder() {
            int port = ((InetSocketAddress) getListenAddress()).getPort();
            NettyChannelBuilder builder = RdmaGrpc.of(LOOPS.group())
                    .configure(NettyChannelBuilder.forAddress(TestAddress.HOST, port))
                    .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                    .maxInboundMessageSize(MAX_MESSAGE_SIZE)
                    .usePlaintext();
            InternalNettyChannelBuilder.setStatsEnabled(builder, false);
            return builder.intercept(createCensusStatsClientInterceptor(), new Patience());
        }
    }

    /** Gives calls that are not meant to time out as long as any test: the 5 and 10 s of these are too few. */
    private static final class Patience implements ClientInterceptor {
        /** The longest deadline that a test waits for. */
        private static final long EXPECTED_SECONDS = 1;

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options,
                                                     Channel next) {
            Deadline deadline = options.getDeadline();
            long seconds = deadline == null ? 0 : deadline.timeRemaining(TimeUnit.SECONDS);
            boolean isTooShort = seconds >= EXPECTED_SECONDS && seconds < TestTimeouts.SECONDS;
            return next.newCall(method, isTooShort ?
                    options.withDeadlineAfter(TestTimeouts.SECONDS, TimeUnit.SECONDS) : options);
        }
    }
}
