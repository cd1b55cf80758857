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
package io.netty.channel.rdma.faults;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.util.concurrent.EventExecutor;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.pool.TypePool;
import net.bytebuddy.utility.JavaModule;
import net.bytebuddy.utility.OpenedClassReader;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import static net.bytebuddy.matcher.ElementMatchers.isTypeInitializer;
import static net.bytebuddy.matcher.ElementMatchers.not;

/**
 * Has one place in the transport that allocates something run out of memory. The places are found in the bytecode of
 * its classes, so that no list of them has to be kept.
 *
 * <p>Buffers and native memory run out everywhere, objects and arrays in the packages that carry connections. Only on
 * event loops: what other threads call fails to their caller. Not in the package {@code verbs}, whose calls {@link
 * VerbsFaultsTest} has fail, nor in the initializers of classes, which the JVM runs once.
 */
public final class Allocations {
    static final String MESSAGE = "injected shortage";

    /** The packages where each object counts; elsewhere buffers and native memory do. */
    private static final String WITH_OBJECTS = "(connection|memory|message|stream)\\..*";
    private static final String BUFFERS =
            ".*(allocateDirect|map0|directBuffer|heapBuffer|slice|duplicate|nioBuffers?|toLeakAwareBuffer)";

    /** The places, by their numbers. */
    private static final List<String> SITES = new ArrayList<>();
    private static final Set<Thread> LOOPS = ConcurrentHashMap.newKeySet();

    private static final Queue<String> ERRORS = new ConcurrentLinkedQueue<>();

    private static volatile int failing = -1;
    private static volatile boolean fired;
    private static volatile Collection<Integer> reached;

    private Allocations() {
    }

    /** Changes the classes of the transport, also those that are loaded already. Once in a process. */
    static void install() {
        AsmVisitorWrapper calls = new AsmVisitorWrapper.ForDeclaredMethods().writerFlags(ClassWriter.COMPUTE_MAXS)
                .invokable(not(isTypeInitializer()), Allocations::visitor);
        new AgentBuilder.Default().disableClassFormatChanges()
                .with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
                .with(new AgentBuilder.Listener.Adapter() {
                    @Override
                    public void onError(String type, ClassLoader loader, JavaModule module, boolean loaded,
                                        Throwable cause) {
                        ERRORS.add(type + ": " + cause);
                    }
                })
                .type((type, loader, module, redefined, domain) -> domain != null &&
                        domain.equals(RdmaSocketChannel.class.getProtectionDomain()) &&
                        !type.getName().startsWith("io.netty.channel.rdma.verbs."))
                .transform((builder, type, loader, module, domain) -> builder.visit(calls))
                .installOn(ByteBuddyAgent.install());
    }

    /** Classes that could not be changed, with the reason. */
    static Collection<String> errors() {
        return ERRORS;
    }

    /** Event loops that run out of memory. */
    static void loops(EventLoopGroup loops) throws Exception {
        for (EventExecutor loop : loops) {
            TestTimeouts.sync(loop.submit(() -> LOOPS.add(Thread.currentThread())));
        }
    }

    /** From now on nothing fails, and the places that event loops come to are noted. */
    static void note() {
        none();
        reached = ConcurrentHashMap.newKeySet();
    }

    /** The numbers of the places since then, in their order in the classes. */
    static Set<Integer> noted() {
        return new LinkedHashSet<>(reached.stream().sorted().toList());
    }

    /** The next allocation at this place by an event loop fails, and none after it. */
    static void fail(int site) {
        fired = false;
        failing = site;
    }

    /** Returns whether it has failed. */
    static boolean fired() {
        return fired;
    }

    /** Nothing fails from now on. */
    static void none() {
        failing = -1;
        reached = null;
    }

    /** Where that is, and what is allocated. */
    static String name(int site) {
        synchronized (SITES) {
            return SITES.get(site);
        }
    }

    /** Called by the transport before it allocates. */
    public static void before(int site) {
        Collection<Integer> noting = reached;
        if (noting == null && failing != site || !LOOPS.contains(Thread.currentThread())) {
            return;
        }
        if (noting != null) {
            noting.add(site);
        } else {
            failOnce(site);
        }
    }

    private static synchronized void failOnce(int site) {
        if (failing == site) {
            failing = -1;
            fired = true;
            throw new OutOfMemoryError(MESSAGE);
        }
    }

    private static MethodVisitor visitor(TypeDescription type, MethodDescription method, MethodVisitor next,
                                         Implementation.Context context, TypePool pool, int writerFlags,
                                         int readerFlags) {
        return new Visitor(next, type.getName().substring("io.netty.channel.rdma.".length()) + '.' +
                method.getInternalName());
    }

    private static int add(String site) {
        synchronized (SITES) {
            SITES.add(site);
            return SITES.size() - 1;
        }
    }

    /** Adds a call of {@link #before} to each place. */
    private static final class Visitor extends MethodVisitor {
        private final String method;
        private final boolean withObjects;
        private int line;

        Visitor(MethodVisitor next, String method) {
            super(OpenedClassReader.ASM_API, next);
            this.method = method;
            withObjects = method.matches(WITH_OBJECTS);
        }

        private void before(String what) {
            if (!withObjects && !what.matches(BUFFERS)) {
                return;
            }
            super.visitLdcInsn(add(method + ':' + line + ' ' + what));
            super.visitMethodInsn(Opcodes.INVOKESTATIC, Allocations.class.getName().replace('.', '/'), "before",
                    "(I)V", false);
        }

        @Override
        public void visitLineNumber(int number, Label start) {
            line = number;
            super.visitLineNumber(number, start);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            if (opcode == Opcodes.ANEWARRAY) {
                before(type);
            }
            super.visitTypeInsn(opcode, type);
            if (opcode == Opcodes.NEW) {
                // After it, as the frames of the verifier name the place of the instruction (JVMS 4.7.4).
                before(type);
            }
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            if (opcode == Opcodes.NEWARRAY) {
                before("array");
            }
            super.visitIntInsn(opcode, operand);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            before(name);
            super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            if (isAllocating(owner, name)) {
                before(owner + '.' + name);
            }
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        }
    }

    /** Methods outside of the transport that allocate for it. */
    private static boolean isAllocating(String owner, String name) {
        switch (name) {
        case "allocateDirect":
        case "map0":
        case "directBuffer":
        case "heapBuffer":
        case "slice":
        case "duplicate":
        case "nioBuffer":
        case "nioBuffers":
        case "toLeakAwareBuffer":
            return true;
        case "add":
        case "put":
        case "execute":
        case "schedule":
            return owner.startsWith("java/util/") || owner.startsWith("io/netty/util/collection/") ||
                    owner.startsWith("io/netty/channel/") && !owner.startsWith("io/netty/channel/rdma/");
        default:
            return false;
        }
    }
}
