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
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Casts of the application to classes of channels and configurations that a channel for RDMA does not have, as in the
 * bridge method of a {@code ChannelInitializer<NioSocketChannel>}. They become casts to interfaces if that is enough
 * ({@link InterfaceCasts}). Otherwise, unless the method checks by {@code instanceof} before, channels of that class
 * are not swapped. A cast is found when its class is loaded, which is too late if such channels were swapped before.
 */
final class HardCasts {
    private static final String NIO_CLIENT = "io.netty.channel.socket.nio.NioSocketChannel";
    private static final String NIO_SERVER = "io.netty.channel.socket.nio.NioServerSocketChannel";
    private static final String EPOLL_CLIENT = "io.netty.channel.epoll.EpollSocketChannel";
    private static final String EPOLL_SERVER = "io.netty.channel.epoll.EpollServerSocketChannel";
    private static final List<String> NIO = List.of(NIO_CLIENT, NIO_SERVER);
    private static final List<String> EPOLL = List.of(EPOLL_CLIENT, EPOLL_SERVER);
    /** Channels that are not swapped, by the class of the cast. Includes listeners, which make such channels. */
    private static final Map<String, List<String>> STAY = Map.ofEntries(
            Map.entry("io/netty/channel/socket/nio/NioSocketChannel", NIO),
            Map.entry("io/netty/channel/socket/nio/NioServerSocketChannel", List.of(NIO_SERVER)),
            Map.entry("io/netty/channel/nio/AbstractNioChannel", NIO),
            Map.entry("io/netty/channel/nio/AbstractNioByteChannel", NIO),
            Map.entry("io/netty/channel/nio/AbstractNioMessageChannel", List.of(NIO_SERVER)),
            Map.entry("io/netty/channel/epoll/EpollSocketChannel", EPOLL),
            Map.entry("io/netty/channel/epoll/EpollServerSocketChannel", List.of(EPOLL_SERVER)),
            Map.entry("io/netty/channel/epoll/EpollSocketChannelConfig", EPOLL),
            Map.entry("io/netty/channel/epoll/EpollServerSocketChannelConfig", List.of(EPOLL_SERVER)),
            Map.entry("io/netty/channel/epoll/EpollChannelConfig", EPOLL),
            Map.entry("io/netty/channel/epoll/AbstractEpollChannel", EPOLL),
            Map.entry("io/netty/channel/epoll/AbstractEpollStreamChannel", EPOLL),
            Map.entry("io/netty/channel/unix/UnixChannel", EPOLL));
    private static final byte[][] PREFIXES = {
            bytes("io/netty/channel/socket/nio/Nio"), bytes("io/netty/channel/nio/AbstractNio"),
            bytes("io/netty/channel/epoll/"), bytes("io/netty/channel/unix/UnixChannel")
    };

    private final Map<String, String> casts;
    private final Set<String> swapped;

    /**
     * @param casts gets the casts, by the class of the channel that is not swapped.
     * @param swapped the classes of channels that were swapped.
     */
    HardCasts(Map<String, String> casts, Set<String> swapped) {
        this.casts = casts;
        this.swapped = swapped;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Looks for casts in a class that is about to be loaded.
     *
     * @return the class with casts to interfaces in their place, or {@code null} if it stays as it is.
     */
    byte[] look(ClassLoader loader, String name, byte[] bytes) {
        for (byte[] prefix : PREFIXES) {
            if (Bytes.contains(bytes, prefix)) {
                ClassReader reader = new ClassReader(bytes);
                Methods methods = new Methods(reader);
                reader.accept(methods, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                return change(name, methods.casts(), new InterfaceCasts(bytes, reader, loader));
            }
        }
        return null;
    }

    private byte[] change(String name, List<Cast> casts, InterfaceCasts changed) {
        for (Cast cast : casts) {
            if (cast.needsClass || !changed.add(cast.method, cast.descriptor)) {
                found(name.replace('/', '.') + '.' + cast.method + (cast.needsClass ? " takes a " : " casts to ") +
                        cast.type.replace('/', '.'), cast.type);
            }
        }
        return changed.bytes();
    }

    /** @param needsClass whether the cast can't be to an interface. */
    private record Cast(String method, String descriptor, String type, boolean needsClass) { }

    private void found(String where, String type) {
        for (String stays : STAY.get(type)) {
            if (casts.putIfAbsent(stays, where) == null && swapped.contains(stays)) {
                Agent.line(where + ", which will fail with a ClassCastException: it was loaded when others had taken " +
                        "the place of " + stays + " already. From now on these stay as they are. The options " +
                        "servers= and clients= can exclude addresses from the start");
            }
        }
    }

    private static final class Methods extends ClassVisitor {
        private final List<Cast> casts = new ArrayList<>();
        private final List<Cast> overrides = new ArrayList<>();
        private final Set<String> calledByBridges = new HashSet<>();
        private final boolean mayOverride;

        Methods(ClassReader reader) {
            super(Opcodes.ASM9);
            String above = reader.getSuperName();
            mayOverride = !above.startsWith("java/") && !above.startsWith("io/netty/");
        }

        @Override
        public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
                                         String[] exceptions) {
            boolean bridge = (access & Opcodes.ACC_BRIDGE) != 0;
            if (mayOverride && !bridge && !method.equals("<init>") &&
                    (access & (Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE)) == 0) {
                for (Type parameter : Type.getArgumentTypes(descriptor)) {
                    if (STAY.containsKey(parameter.getInternalName())) {
                        overrides.add(new Cast(method, descriptor, parameter.getInternalName(), true));
                    }
                }
            }
            return new Casts(method, descriptor, casts, bridge ? calledByBridges : new HashSet<>());
        }

        /**
         * Returns the casts of this class, and parameters of methods that a bridge of a superclass may call. For such a
         * method the JDK's compiler makes another bridge in this class; other compilers may not.
         */
        List<Cast> casts() {
            overrides.removeIf(each -> calledByBridges.contains(each.method + each.descriptor));
            casts.addAll(overrides);
            return casts;
        }
    }

    private static final class Casts extends MethodVisitor {
        private final String method;
        private final String descriptor;
        private final List<Cast> casts;
        private final Set<String> called;
        private final Set<String> asked = new HashSet<>();

        Casts(String method, String descriptor, List<Cast> casts, Set<String> called) {
            super(Opcodes.ASM9);
            this.method = method;
            this.descriptor = descriptor;
            this.casts = casts;
            this.called = called;
        }

        private void found(String type) {
            casts.add(new Cast(method, descriptor, type, false));
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            if (opcode == Opcodes.INSTANCEOF) {
                asked.add(type);
            } else if (opcode == Opcodes.CHECKCAST && STAY.containsKey(type) && !asked.contains(type)) {
                found(type);
            }
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String calledDescriptor,
                                    boolean isInterface) {
            called.add(name + calledDescriptor);
        }

        /** A lambda with another parameter class than its interface: the class that the JDK makes for it casts. */
        @Override
        public void visitInvokeDynamicInsn(String name, String site, Handle bootstrap, Object... arguments) {
            for (int i = 1; i < arguments.length; i++) {
                if (arguments[i] instanceof Type && ((Type) arguments[i]).getSort() == Type.METHOD) {
                    for (Type parameter : ((Type) arguments[i]).getArgumentTypes()) {
                        if (parameter.getSort() == Type.OBJECT && STAY.containsKey(parameter.getInternalName()) &&
                                !arguments[0].equals(arguments[i])) {
                            found(parameter.getInternalName());
                        }
                    }
                }
            }
        }
    }
}
