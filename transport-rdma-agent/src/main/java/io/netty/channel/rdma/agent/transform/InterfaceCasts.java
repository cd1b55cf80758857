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
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Changes casts in a class of an application to casts to interfaces, which channels for RDMA have as well. For example
 * a cast to {@code NioSocketChannel} becomes one to {@code SocketChannel}, if the code uses only that interface.
 *
 * <p>If the class of the cast is in the signature of a method, such as {@code initChannel(NioSocketChannel)}, the
 * method stays, and gets a private copy with the interface in its place. A bridge method, which casts and calls the
 * method, calls the copy for channels of other classes. Nothing changes for channels of the class, and for classes that
 * call or override the method.
 *
 * <p>The verifier accepts any object as an interface. So the code stays valid if no value is used as a class, or as an
 * interface that the new interface does not extend. A method stays as it is if it has a supertype of the class that is
 * not a supertype of the interface.
 */
final class InterfaceCasts {
    private static final String COPY = "$rdma";
    /** The interface for each class. */
    private static final Map<String, String> INTERFACES = Map.of(
            "io/netty/channel/socket/nio/NioSocketChannel", "io/netty/channel/socket/SocketChannel",
            "io/netty/channel/socket/nio/NioServerSocketChannel", "io/netty/channel/socket/ServerSocketChannel",
            "io/netty/channel/epoll/EpollSocketChannel", "io/netty/channel/socket/SocketChannel",
            "io/netty/channel/epoll/EpollServerSocketChannel", "io/netty/channel/socket/ServerSocketChannel",
            "io/netty/channel/epoll/EpollSocketChannelConfig", "io/netty/channel/socket/SocketChannelConfig",
            "io/netty/channel/epoll/EpollServerSocketChannelConfig",
            "io/netty/channel/socket/ServerSocketChannelConfig");
    /** Methods that code may call by the name of the class, and that interfaces have from {@code Object}. */
    private static final Set<String> OF_OBJECT =
            Set.of("hashCode()I", "equals(Ljava/lang/Object;)Z", "toString()Ljava/lang/String;");
    private static final Set<String> BOOTSTRAPS =
            Set.of("java/lang/invoke/LambdaMetafactory", "java/lang/invoke/StringConcatFactory");
    /** The argument of {@code LambdaMetafactory} with the types to which the class of the lambda casts. */
    private static final int INSTANTIATED_TYPE = 2;

    /** Offset in a class file. Before Java 6 there were no frames. */
    private static final int MAJOR_VERSION = 6;

    private final byte[] bytes;
    private final ClassReader reader;
    private final NettyTypes types;
    /** Classes and interfaces that a channel, or its configuration, may no longer be. */
    private final Set<String> lost = new HashSet<>();
    /** By interface, its methods. */
    private final Map<String, Set<String>> methods = new HashMap<>();
    private final Map<String, Body> bodies = new HashMap<>();
    private final Set<String> inPlace = new HashSet<>();
    private final Set<String> bridges = new HashSet<>();
    private final Set<String> copies = new HashSet<>();

    InterfaceCasts(byte[] bytes, ClassReader reader, ClassLoader loader) {
        this.bytes = bytes;
        this.reader = reader;
        types = new NettyTypes(loader);
    }

    /** Returns whether the casts of a method become casts to interfaces. */
    boolean add(String method, String descriptor) {
        if ((reader.getAccess() & Opcodes.ACC_INTERFACE) != 0 || reader.readShort(MAJOR_VERSION) < Opcodes.V1_6) {
            return false;
        }
        try {
            if (bodies.isEmpty()) {
                look();
            }
        } catch (IOException e) {
            // The methods of interfaces are not known, because Netty's class files can't be read.
            return false;
        }
        Body body = bodies.get(method + descriptor);
        Set<String> needed = new HashSet<>();
        if (body.isBridge()) {
            if (!body.onlyCasts(bodies.get(body.target)) || !canBeCopied(body.target, needed)) {
                return false;
            }
            bridges.add(method + descriptor);
        } else {
            if (INTERFACES.containsKey(Type.getReturnType(descriptor).getInternalName()) || !canChange(body, needed)) {
                return false;
            }
            inPlace.add(method + descriptor);
        }
        copies.addAll(needed);
        return true;
    }

    private void look() throws IOException {
        for (Map.Entry<String, String> each : INTERFACES.entrySet()) {
            // The application may not have all transports.
            if (Bytes.contains(bytes, HardCasts.bytes(each.getKey()))) {
                methods.put(each.getValue(), types.methods(each.getValue()));
                lost.addAll(types.above(each.getKey()));
                lost.removeAll(types.above(each.getValue()));
            }
        }
        lost.removeAll(INTERFACES.keySet());
        reader.accept(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
                                             String[] exceptions) {
                Body body = new Body(access, descriptor);
                bodies.put(name + descriptor, body);
                return body;
            }
        }, ClassReader.SKIP_DEBUG);
    }

    private boolean canBeCopied(String key, Set<String> needed) {
        if (!needed.add(key)) {
            return true;
        }
        Body body = bodies.get(key);
        return body != null && body.hasCode && canChange(body, needed);
    }

    private boolean canChange(Body body, Set<String> needed) {
        return !body.needsClass && body.calls.stream().allMatch(called -> bodies.containsKey(called) &&
                !bodies.get(called).isVirtual() && canBeCopied(called, needed));
    }

    /** Returns the changed class, or {@code null} if nothing was changed. */
    byte[] bytes() {
        if (inPlace.isEmpty() && bridges.isEmpty()) {
            return null;
        }
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
                                             String[] exceptions) {
                MethodVisitor visitor = super.visitMethod(access, name, descriptor, signature, exceptions);
                return inPlace.contains(name + descriptor) ? new ToInterfaces(visitor) :
                        bridges.contains(name + descriptor) ? new Bridge(visitor, name, descriptor) : visitor;
            }
        }, 0);
        reader.accept(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
                                             String[] exceptions) {
                return copies.contains(name + descriptor) ? new ToInterfaces(writer.visitMethod(
                        access & (Opcodes.ACC_STATIC | Opcodes.ACC_SYNCHRONIZED | Opcodes.ACC_STRICT) |
                        Opcodes.ACC_PRIVATE | Opcodes.ACC_SYNTHETIC, name + COPY, toInterfaces(descriptor), null,
                        exceptions)) : null;
            }
        }, 0);
        return writer.toByteArray();
    }

    private static String toInterfaces(String descriptor) {
        String changed = descriptor;
        for (Map.Entry<String, String> each : INTERFACES.entrySet()) {
            changed = changed.replace('L' + each.getKey() + ';', 'L' + each.getValue() + ';');
        }
        return changed;
    }

    private static String toInterface(String type) {
        return INTERFACES.getOrDefault(type, type);
    }

    private static boolean isOfMethod(Object constant) {
        return constant instanceof Type && ((Type) constant).getSort() == Type.METHOD;
    }

    /** Returns the classes and interfaces in a type: a descriptor, or the internal name of a class. */
    private static Set<String> in(String type) {
        Set<String> found = new HashSet<>();
        if (type.startsWith("(")) {
            found.addAll(in(Type.getReturnType(type).getDescriptor()));
            Arrays.stream(Type.getArgumentTypes(type)).forEach(each -> found.addAll(in(each.getDescriptor())));
        } else {
            int start = type.lastIndexOf('[') + 1;
            found.add(type.endsWith(";") ? type.substring(start + 1, type.length() - 1) : type.substring(start));
        }
        return found;
    }

    /** The code of a method, and its use of channels. */
    private final class Body extends MethodVisitor {
        final int access;
        final String descriptor;
        boolean hasCode;
        /** True if the code needs the class, or may need it. */
        boolean needsClass;
        /** Methods of this class with a class of channels in their signature. */
        final Set<String> calls = new HashSet<>();
        /** The method that a bridge calls. */
        String target;
        /** Calls and jumps. */
        private int instructions;

        Body(int access, String descriptor) {
            super(Opcodes.ASM9);
            this.access = access;
            this.descriptor = descriptor;
            check(descriptor);
        }

        boolean isBridge() {
            return (access & Opcodes.ACC_BRIDGE) != 0;
        }

        boolean isVirtual() {
            return (access & (Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE)) == 0;
        }

        /** Returns whether this bridge only casts the arguments of one call, one of them to a channel. */
        boolean onlyCasts(Body called) {
            if (called == null || !called.isVirtual() || instructions != 1 ||
                    isChanged(Type.getReturnType(called.descriptor).getDescriptor())) {
                return false;
            }
            Type[] wanted = Type.getArgumentTypes(called.descriptor);
            Type[] given = Type.getArgumentTypes(descriptor);
            boolean same = wanted.length == given.length;
            for (int i = 0; i < wanted.length && same; i++) {
                same = wanted[i].equals(given[i]) || isReference(wanted[i]) && isReference(given[i]);
            }
            return same && Arrays.stream(wanted).filter(each -> isChanged(each.getDescriptor())).count() == 1;
        }

        private boolean isReference(Type type) {
            return type.getSort() == Type.OBJECT || type.getSort() == Type.ARRAY;
        }

        private boolean isChanged(String type) {
            return in(type).stream().anyMatch(INTERFACES::containsKey);
        }

        /** Notes types that need the class. Arrays do, because they know the class of their elements. */
        private void check(String type) {
            needsClass |= in(type).stream().anyMatch(lost::contains) ||
                    INTERFACES.keySet().stream().anyMatch(each -> type.contains("[L" + each + ';'));
        }

        private void check(boolean needed) {
            needsClass |= needed;
        }

        /** Notes a call of a method. A method of this class may have a copy. */
        private void call(String owner, String method, String calledDescriptor) {
            check(calledDescriptor);
            if (isChanged(calledDescriptor)) {
                calls.add(method + calledDescriptor);
                check(!owner.equals(reader.getClassName()) || method.equals("<init>"));
            }
        }

        @Override
        public void visitCode() {
            hasCode = true;
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            check(type);
            check(INTERFACES.containsKey(type) && (opcode == Opcodes.NEW || opcode == Opcodes.ANEWARRAY));
        }

        @Override
        public void visitMultiANewArrayInsn(String type, int dimensions) {
            check(type);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String field, String type) {
            check(owner);
            check(type);
            check(isChanged(owner) || isChanged(type));
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String method, String calledDescriptor,
                                    boolean isInterface) {
            instructions++;
            target = owner.equals(reader.getClassName()) ? method + calledDescriptor : null;
            check(owner);
            if (INTERFACES.containsKey(owner)) {
                check(calledDescriptor);
                check(opcode != Opcodes.INVOKEVIRTUAL || !OF_OBJECT.contains(method + calledDescriptor) &&
                        !methods.get(toInterface(owner)).contains(method + toInterfaces(calledDescriptor)));
            } else {
                call(owner, method, calledDescriptor);
            }
        }

        @Override
        public void visitInvokeDynamicInsn(String called, String site, Handle bootstrap, Object... arguments) {
            check(site);
            boolean changed = isChanged(site);
            for (int i = 0; i < arguments.length; i++) {
                if (arguments[i] instanceof Handle) {
                    Handle handle = (Handle) arguments[i];
                    check(handle.getOwner());
                    check(isChanged(handle.getOwner()));
                    changed |= isChanged(handle.getDesc());
                    if (handle.getDesc().startsWith("(")) {
                        call(handle.getOwner(), handle.getName(), handle.getDesc());
                    }
                } else if (isOfMethod(arguments[i])) {
                    check(arguments[i].toString());
                    changed |= isChanged(arguments[i].toString());
                    // Other arguments have the types of the functional interface, which need the class itself.
                    check(i != INSTANTIATED_TYPE && isChanged(arguments[i].toString()));
                } else {
                    check(arguments[i] instanceof ConstantDynamic);
                }
            }
            check(changed && !BOOTSTRAPS.contains(bootstrap.getOwner()));
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            instructions++;
        }

        @Override
        public void visitLdcInsn(Object constant) {
            check(constant instanceof ConstantDynamic || constant instanceof Handle || isOfMethod(constant));
        }

        @Override
        public void visitFrame(int type, int locals, Object[] local, int stacked, Object[] stack) {
            for (int i = 0; i < locals; i++) {
                check(local[i] instanceof String ? (String) local[i] : "");
            }
            for (int i = 0; i < stacked; i++) {
                check(stack[i] instanceof String ? (String) stack[i] : "");
            }
        }
    }

    /** Writes code with interfaces in place of the classes. */
    private final class ToInterfaces extends MethodVisitor {
        ToInterfaces(MethodVisitor visitor) {
            super(Opcodes.ASM9, visitor);
        }

        private boolean isCopied(String owner, String method, String descriptor) {
            return owner.equals(reader.getClassName()) && copies.contains(method + descriptor);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            super.visitTypeInsn(opcode, opcode == Opcodes.CHECKCAST ? toInterface(type) : type);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String method, String descriptor, boolean isInterface) {
            if (INTERFACES.containsKey(owner)) {
                boolean ofObject = OF_OBJECT.contains(method + descriptor);
                super.visitMethodInsn(ofObject ? Opcodes.INVOKEVIRTUAL : Opcodes.INVOKEINTERFACE,
                        ofObject ? "java/lang/Object" : toInterface(owner), method, toInterfaces(descriptor),
                        !ofObject);
            } else if (isCopied(owner, method, descriptor)) {
                super.visitMethodInsn(opcode, owner, method + COPY, toInterfaces(descriptor), isInterface);
            } else {
                super.visitMethodInsn(opcode, owner, method, descriptor, isInterface);
            }
        }

        @Override
        public void visitInvokeDynamicInsn(String called, String site, Handle bootstrap, Object... arguments) {
            Object[] changed = arguments.clone();
            for (int i = 0; i < changed.length; i++) {
                if (changed[i] instanceof Handle) {
                    Handle handle = (Handle) changed[i];
                    if (isCopied(handle.getOwner(), handle.getName(), handle.getDesc())) {
                        changed[i] = new Handle(handle.getTag(), handle.getOwner(), handle.getName() + COPY,
                                toInterfaces(handle.getDesc()), handle.isInterface());
                    }
                } else if (isOfMethod(changed[i])) {
                    changed[i] = Type.getMethodType(toInterfaces(changed[i].toString()));
                }
            }
            super.visitInvokeDynamicInsn(called, toInterfaces(site), bootstrap, changed);
        }

        @Override
        public void visitFrame(int type, int locals, Object[] local, int stacked, Object[] stack) {
            super.visitFrame(type, locals, toInterfaces(local, locals), stacked, toInterfaces(stack, stacked));
        }

        private Object[] toInterfaces(Object[] frame, int length) {
            Object[] changed = frame == null ? null : frame.clone();
            for (int i = 0; i < length && changed != null; i++) {
                changed[i] = changed[i] instanceof String ? toInterface((String) changed[i]) : changed[i];
            }
            return changed;
        }

        private String toInterfaces(String descriptor) {
            return InterfaceCasts.toInterfaces(descriptor);
        }
    }

    /** A bridge that calls the copy of its method for channels that are not of the class. */
    private final class Bridge extends MethodVisitor {
        private final String name;
        private final String descriptor;
        private int stack;

        Bridge(MethodVisitor visitor, String name, String descriptor) {
            super(Opcodes.ASM9, visitor);
            this.name = name;
            this.descriptor = descriptor;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            String target = bodies.get(name + descriptor).target;
            String called = target.substring(target.indexOf('('));
            Type[] given = Type.getArgumentTypes(descriptor);
            Type[] wanted = Type.getArgumentTypes(called);
            Label ofTheClass = new Label();
            int local = 1;
            for (int i = 0; i < wanted.length; local += given[i++].getSize()) {
                if (INTERFACES.containsKey(wanted[i].getInternalName())) {
                    super.visitVarInsn(Opcodes.ALOAD, local);
                    super.visitTypeInsn(Opcodes.INSTANCEOF, wanted[i].getInternalName());
                    super.visitJumpInsn(Opcodes.IFNE, ofTheClass);
                }
            }
            super.visitVarInsn(Opcodes.ALOAD, 0);
            local = 1;
            for (int i = 0; i < wanted.length; local += given[i++].getSize()) {
                super.visitVarInsn(given[i].getOpcode(Opcodes.ILOAD), local);
                if (!wanted[i].equals(given[i])) {
                    super.visitTypeInsn(Opcodes.CHECKCAST, toInterface(wanted[i].getInternalName()));
                }
            }
            stack = local;
            super.visitMethodInsn(Opcodes.INVOKESPECIAL, reader.getClassName(),
                    target.substring(0, target.indexOf('(')) + COPY, toInterfaces(called), false);
            super.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
            super.visitLabel(ofTheClass);
            super.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            super.visitMaxs(Math.max(stack, maxStack), maxLocals);
        }
    }
}
