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
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The types above a class of Netty, and the methods of its interfaces, read from the class files of a loader. */
final class NettyTypes {
    private final ClassLoader loader;
    private final Map<String, ClassFile> files = new HashMap<>();

    NettyTypes(ClassLoader loader) {
        this.loader = loader;
    }

    /** @param methods that are neither private nor static, each as its name and descriptor. */
    private record ClassFile(List<String> above, Set<String> methods) { }

    /** A type of Netty, its superclasses, and all their interfaces, without those of the JDK. */
    Set<String> above(String type) throws IOException {
        Set<String> types = new HashSet<>();
        above(type, types);
        return types;
    }

    /** The methods that can be called by way of an interface, each as its name and descriptor. */
    Set<String> methods(String type) throws IOException {
        Set<String> methods = new HashSet<>();
        for (String each : above(type)) {
            methods.addAll(read(each).methods);
        }
        return methods;
    }

    private void above(String type, Set<String> types) throws IOException {
        if (!type.startsWith("java/") && types.add(type)) {
            for (String each : read(type).above) {
                above(each, types);
            }
        }
    }

    private ClassFile read(String type) throws IOException {
        ClassFile file = files.get(type);
        if (file != null) {
            return file;
        }
        ClassReader reader;
        try (InputStream in = loader.getResourceAsStream(type + ".class")) {
            if (in == null) {
                throw new IOException("no class " + type);
            }
            reader = new ClassReader(in.readAllBytes());
        }
        List<String> above = new ArrayList<>(List.of(reader.getInterfaces()));
        above.add(reader.getSuperName());
        Set<String> methods = new HashSet<>();
        reader.accept(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
                                             String[] exceptions) {
                if ((access & (Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE)) == 0) {
                    methods.add(name + descriptor);
                }
                return null;
            }
        }, ClassReader.SKIP_CODE);
        file = new ClassFile(above, methods);
        files.put(type, file);
        return file;
    }
}
