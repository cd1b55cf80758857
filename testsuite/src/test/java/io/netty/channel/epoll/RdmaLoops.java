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
package io.netty.channel.epoll;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SelectStrategyFactory;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.TestScope;
import io.netty.testsuite.transport.TestsuitePermutation;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.asm.MemberSubstitution;
import net.bytebuddy.utility.JavaModule;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import static net.bytebuddy.matcher.ElementMatchers.any;
import static net.bytebuddy.matcher.ElementMatchers.isDeclaredBy;
import static net.bytebuddy.matcher.ElementMatchers.nameMatches;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

/**
 * Event loops of the RDMA transport for those of epoll's tests that make theirs themselves: where their code calls
 * {@code EpollIoHandler.newFactory}, it calls the methods of the same name of this class. So do Netty's base classes of
 * tests where they call {@code TestsuitePermutation.allocator}.
 */
public final class RdmaLoops {
    private static final String TESTS = "io\\.netty\\.channel\\.epoll\\..*Test(\\$.*)?|" +
            "io\\.netty\\.testsuite\\.transport\\.Abstract.*TestsuiteTest";

    private static final AtomicInteger MADE = new AtomicInteger();
    private static final Queue<String> ERRORS = new ConcurrentLinkedQueue<>();

    private RdmaLoops() {
    }

    /** Number of factories that tests have taken from here. */
    static int made() {
        return MADE.get();
    }

    /** Classes that could not be changed, with the reason. */
    static Collection<String> errors() {
        return ERRORS;
    }

    public static IoHandlerFactory newFactory() {
        MADE.incrementAndGet();
        return RdmaIoHandler.newFactory();
    }

    /** The strategy of the one test that has one is never to sleep. */
    public static IoHandlerFactory newFactory(int maxEvents, SelectStrategyFactory busyWait) {
        MADE.incrementAndGet();
        return RdmaIoHandler.newFactory(new RdmaIoHandlerConfig().setBusyPoll(true));
    }

    /** By default one of Netty's two: no event loop sees the difference. */
    public static List<ByteBufAllocator> allocator() {
        List<ByteBufAllocator> all = TestsuitePermutation.allocator();
        return TestScope.ALL ? all : all.subList(all.size() - 1, all.size());
    }

    /** Changes the tests' classes, also those that are loaded already. */
    static void substitute() throws NoSuchMethodException {
        AsmVisitorWrapper plain = replacedBy(EpollIoHandler.class, RdmaLoops.class.getMethod("newFactory"));
        AsmVisitorWrapper withStrategy = replacedBy(EpollIoHandler.class,
                RdmaLoops.class.getMethod("newFactory", int.class, SelectStrategyFactory.class));
        AsmVisitorWrapper allocator = replacedBy(TestsuitePermutation.class, RdmaLoops.class.getMethod("allocator"));
        new AgentBuilder.Default().disableClassFormatChanges()
                .with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
                .with(new AgentBuilder.Listener.Adapter() {
                    @Override
                    public void onError(String type, ClassLoader loader, JavaModule module, boolean loaded,
                                        Throwable cause) {
                        ERRORS.add(type + ": " + cause);
                    }
                })
                .type(nameMatches(TESTS))
                .transform((builder, type, loader, module, domain) ->
                        builder.visit(plain).visit(withStrategy).visit(allocator))
                .installOn(ByteBuddyAgent.install());
    }

    private static AsmVisitorWrapper replacedBy(Class<?> owner, Method method) {
        return MemberSubstitution.relaxed().method(isDeclaredBy(owner)
                .and(named(method.getName())).and(takesArguments(method.getParameterTypes())))
                .replaceWith(method).on(any());
    }
}
