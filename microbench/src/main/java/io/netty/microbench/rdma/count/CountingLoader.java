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
package io.netty.microbench.rdma.count;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

import java.io.IOException;
import java.io.InputStream;

/** Loads the classes of Netty and of the transport with code that counts the bytecodes that they execute. */
final class CountingLoader extends ClassLoader {
    private static final String OWN = "io.netty.";
    private static final String NOT_COUNTED = "io.netty.microbench.";

    CountingLoader() {
        super(CountingLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OWN) || name.equals(Counts.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] code = in.readAllBytes();
            byte[] defined = name.startsWith(NOT_COUNTED) ? code : counting(name, code);
            return defineClass(name, defined, 0, defined.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private static byte[] counting(String name, byte[] code) {
        ClassReader reader = new ClassReader(code);
        ClassNode node = new ClassNode();
        reader.accept(node, 0);
        for (MethodNode method : node.methods) {
            if (method.instructions.size() > 0) {
                count(method.instructions, Counts.number(name + '.' + method.name));
            }
        }
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        node.accept(writer);
        return writer.toByteArray();
    }

    /**
     * Counts the bytecodes from the last jump, label or return, just before the next one. If a bytecode between them
     * throws, none of them counts.
     */
    private static void count(InsnList instructions, int method) {
        int since = 0;
        for (AbstractInsnNode next : instructions.toArray()) {
            since += next.getOpcode() >= 0 ? 1 : 0;
            if (since > 0 && isEnd(next)) {
                instructions.insertBefore(next, call("executed", method, since));
                since = 0;
            }
        }
        instructions.insert(call("called", method));
    }

    private static boolean isEnd(AbstractInsnNode instruction) {
        int opcode = instruction.getOpcode();
        switch (instruction.getType()) {
        case AbstractInsnNode.JUMP_INSN:
        case AbstractInsnNode.LABEL:
        case AbstractInsnNode.TABLESWITCH_INSN:
        case AbstractInsnNode.LOOKUPSWITCH_INSN:
            return true;
        default:
            return opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN || opcode == Opcodes.ATHROW;
        }
    }

    private static InsnList call(String name, Integer... arguments) {
        InsnList call = new InsnList();
        for (Integer argument : arguments) {
            call.add(new LdcInsnNode(argument));
        }
        call.add(new MethodInsnNode(Opcodes.INVOKESTATIC, Type.getInternalName(Counts.class), name,
                "(" + "I".repeat(arguments.length) + ")V"));
        return call;
    }
}
