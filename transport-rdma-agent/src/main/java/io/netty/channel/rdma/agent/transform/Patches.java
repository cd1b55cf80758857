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

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The changes of classes. Each is a call of {@code Hooks} in place of a call, or after it, with the same operands, so
 * that frames and the size of the stack do not change. The number of changes in each class of Netty is known. Another
 * number means a Netty that this agent does not know.
 */
final class Patches {
    private static final int API = Opcodes.ASM9;
    private static final String HOOKS = "io/netty/channel/rdma/agent/hooks/Hooks";
    private static final String SINGLE_THREAD_LOOP = "io/netty/channel/SingleThreadEventLoop";
    private static final String IO_LOOP = "io/netty/channel/SingleThreadIoEventLoop";
    private static final String MANUAL_LOOP = "io/netty/channel/ManualIoEventLoop";
    private static final String NIO_LOOP = "io/netty/channel/nio/NioEventLoop";
    private static final String EPOLL_LOOP = "io/netty/channel/epoll/EpollEventLoop";
    private static final String BOOTSTRAP = "io/netty/bootstrap/AbstractBootstrap";
    private static final Set<String> CHANNEL_FACTORIES =
            Set.of("io/netty/channel/ChannelFactory", "io/netty/bootstrap/ChannelFactory");
    /** The number of changes in each class. */
    private static final Map<String, Integer> EXPECTED = new LinkedHashMap<>();

    static {
        EXPECTED.put(SINGLE_THREAD_LOOP, 1);
        EXPECTED.put(IO_LOOP, 6);
        EXPECTED.put(MANUAL_LOOP, 2);
        EXPECTED.put(NIO_LOOP, 6);
        EXPECTED.put(EPOLL_LOOP, 2);
        EXPECTED.put(BOOTSTRAP, 2);
    }

    private Patches() { }

    static boolean isPatched(String name) {
        return EXPECTED.containsKey(name);
    }

    /** The classes of Netty that are changed. */
    static Set<String> names() {
        return EXPECTED.keySet();
    }

    /** @throws IllegalStateException if the class is not what it should be. */
    static byte[] ofNetty(String name, byte[] bytes) {
        Patcher patcher = new Patcher(new ClassReader(bytes), name);
        int expected = EXPECTED.get(name);
        if (patcher.count != expected) {
            throw new IllegalStateException(name.replace('/', '.') + " has " + patcher.count + " places to change, " +
                    expected + " are expected");
        }
        return patcher.writer.toByteArray();
    }

    /** Changes a class outside of Netty. Returns {@code null} if it calls no channel factory. */
    static byte[] ofCaller(byte[] bytes) {
        Patcher patcher = new Patcher(new ClassReader(bytes), null);
        return patcher.count == 0 ? null : patcher.writer.toByteArray();
    }

    private static final class Patcher extends ClassVisitor {
        final ClassWriter writer;
        /** {@code null} outside of Netty. */
        private final String name;
        private int count;

        Patcher(ClassReader reader, String name) {
            this(reader, new ClassWriter(reader, 0), name);
        }

        private Patcher(ClassReader reader, ClassWriter writer, String name) {
            super(API, writer);
            this.writer = writer;
            this.name = name;
            reader.accept(this, 0);
        }

        @Override
        public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
                                         String[] exceptions) {
            MethodVisitor visitor = super.visitMethod(access, method, descriptor, signature, exceptions);
            if ((NIO_LOOP.equals(name) || EPOLL_LOOP.equals(name)) && method.equals("registeredChannels")) {
                countChannels(visitor);
                return null;
            }
            return new Calls(visitor, method, descriptor);
        }

        /** Replaces the TCP handler's count, which has only its own channels, by the loop's count of all channels. */
        private void countChannels(MethodVisitor visitor) {
            count++;
            visitor.visitCode();
            visitor.visitVarInsn(Opcodes.ALOAD, 0);
            visitor.visitMethodInsn(Opcodes.INVOKEVIRTUAL, name, "getNumOfRegisteredChannels", "()I", false);
            visitor.visitInsn(Opcodes.IRETURN);
            visitor.visitMaxs(1, 1);
            visitor.visitEnd();
        }

        private final class Calls extends MethodVisitor {
            private final String method;
            private final String descriptor;

            Calls(MethodVisitor visitor, String method, String descriptor) {
                super(API, visitor);
                this.method = method;
                this.descriptor = descriptor;
            }

            @Override
            public void visitCode() {
                super.visitCode();
                if (SINGLE_THREAD_LOOP.equals(name) && method.equals("register") &&
                        descriptor.startsWith("(Lio/netty/channel/ChannelPromise;)")) {
                    super.visitVarInsn(Opcodes.ALOAD, 1);
                    hook("registering", "(Lio/netty/channel/ChannelPromise;)V");
                }
            }

            private void hook(String hook, String hookDescriptor) {
                count++;
                super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, hookDescriptor, false);
            }

            @Override
            public void visitMethodInsn(int opcode, String owner, String called, String calledDescriptor,
                                        boolean isInterface) {
                if (called.equals("newChannel") && CHANNEL_FACTORIES.contains(owner)) {
                    if (name == null) {
                        super.visitMethodInsn(opcode, owner, called, calledDescriptor, isInterface);
                        // No class of Netty in the signature: the loader may have another Netty than the hook's.
                        hook("inPlaceOf", "(Ljava/lang/Object;)Ljava/lang/Object;");
                        super.visitTypeInsn(Opcodes.CHECKCAST, "io/netty/channel/Channel");
                    } else {
                        hook("newChannel", "(Lio/netty/bootstrap/ChannelFactory;)Lio/netty/channel/Channel;");
                    }
                } else if (called.equals("newHandler") && (IO_LOOP.equals(name) || MANUAL_LOOP.equals(name))) {
                    hook("newHandler", "(Lio/netty/channel/IoHandlerFactory;" +
                            "Lio/netty/util/concurrent/ThreadAwareExecutor;)Lio/netty/channel/IoHandler;");
                } else if (called.equals("getClass") && method.equals("isIoType")) {
                    hook("classOf", "(Ljava/lang/Object;)Ljava/lang/Class;");
                } else if (called.equals("setOption") && method.equals("setChannelOption")) {
                    hook("setOption", "(Lio/netty/channel/ChannelConfig;Lio/netty/channel/ChannelOption;" +
                            "Ljava/lang/Object;)Z");
                } else {
                    super.visitMethodInsn(opcode, owner, called, calledDescriptor, isInterface);
                    if (called.equals("ioHandler") && (NIO_LOOP.equals(name) || EPOLL_LOOP.equals(name))) {
                        hook("tcpHandler", "(Lio/netty/channel/IoHandler;)Lio/netty/channel/IoHandler;");
                    }
                }
            }
        }
    }
}
