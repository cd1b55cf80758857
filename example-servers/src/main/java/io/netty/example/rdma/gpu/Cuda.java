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
package io.netty.example.rdma.gpu;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The few functions of CUDA's driver API that the example needs. They are called by the foreign function interface of
 * Java 22 ({@code java.lang.foreign}). The interface is looked up by reflection, because the examples are compiled for
 * Java 17; a program for Java 22 needs no reflection. Any thread may use this class.
 */
final class Cuda {
    /** First release of Java with the interface. */
    static final int JAVA = 22;

    private static final int NAME_LENGTH = 100;

    private final Object linker;
    private final Object symbols;
    private final Map<String, MethodHandle> functions = new HashMap<>();
    private final long context;
    private final String name;

    private Cuda(String library) throws IOException {
        try {
            linker = type("Linker").getMethod("nativeLinker").invoke(null);
            Object forever = type("Arena").getMethod("global").invoke(null);
            symbols = library.indexOf('/') < 0
                    ? type("SymbolLookup").getMethod("libraryLookup", String.class, type("Arena"))
                            .invoke(null, library, forever)
                    : type("SymbolLookup").getMethod("libraryLookup", Path.class, type("Arena"))
                            .invoke(null, Path.of(library), forever);
        } catch (InvocationTargetException e) {
            throw new IOException(library + " cannot be loaded: " + e.getCause().getMessage(), e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IOException("CUDA from Java needs Java " + JAVA + " or later, and this is Java "
                    + Runtime.version().feature(), e);
        }
        call("cuInit", 0);
        ByteBuf out = Unpooled.directBuffer(NAME_LENGTH).setZero(0, NAME_LENGTH);
        try {
            call("cuDeviceGetName", out.memoryAddress(), NAME_LENGTH, 0);
            name = out.toString(0, out.indexOf(0, NAME_LENGTH, (byte) 0), StandardCharsets.US_ASCII);
            call("cuDevicePrimaryCtxRetain", out.memoryAddress(), 0);
            context = pointer(out);
        } finally {
            out.release();
        }
    }

    /**
     * Loads the library, and uses the first graphics processor.
     *
     * @param library a name, or a path
     * @throws IOException if there is no such library, no graphics processor, or no such interface
     */
    static Cuda load(String library) throws IOException {
        return new Cuda(library);
    }

    private static long pointer(ByteBuf out) {
        return out.nioBuffer(0, Long.BYTES).order(ByteOrder.nativeOrder()).getLong();
    }

    /** Name of the graphics processor. */
    String name() {
        return name;
    }

    /** Allocates memory of the graphics processor. */
    long allocate(long size) throws IOException {
        ByteBuf out = Unpooled.directBuffer(Long.BYTES).setZero(0, Long.BYTES);
        try {
            call("cuMemAlloc_v2", out.memoryAddress(), size);
            return pointer(out);
        } finally {
            out.release();
        }
    }

    void free(long memory) throws IOException {
        call("cuMemFree_v2", memory);
    }

    void copyIn(long memory, ByteBuf from) throws IOException {
        call("cuMemcpyHtoD_v2", memory, from.memoryAddress(), (long) from.capacity());
    }

    void copyOut(ByteBuf to, long memory) throws IOException {
        call("cuMemcpyDtoH_v2", to.memoryAddress(), memory, (long) to.capacity());
    }

    void clear(long memory, long size) throws IOException {
        call("cuMemsetD8_v2", memory, (byte) 0, size);
    }

    /** Calls a function in the context of the graphics processor. Pointers are passed as numbers of 64 bits. */
    private void call(String function, Object... arguments) throws IOException {
        if (context != 0) {
            check("cuCtxSetCurrent", context);
        }
        check(function, arguments);
    }

    private void check(String function, Object... arguments) throws IOException {
        Object result;
        try {
            result = function(function, arguments).invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new IOException(function + ": " + e, e);
        }
        if (!result.equals(0)) {
            throw new IOException(function + " fails with the error " + result + " (CUresult)");
        }
    }

    private synchronized MethodHandle function(String function, Object[] arguments)
            throws ReflectiveOperationException {
        MethodHandle known = functions.get(function);
        if (known != null) {
            return known;
        }
        Class<?> layout = type("MemoryLayout");
        Object layouts = Array.newInstance(layout, arguments.length);
        for (int i = 0; i < arguments.length; i++) {
            Array.set(layouts, i, layout(arguments[i].getClass()));
        }
        Object descriptor = type("FunctionDescriptor").getMethod("of", layout, layouts.getClass())
                .invoke(null, layout(Integer.class), layouts);
        Object options = Array.newInstance(type("Linker$Option"), 0);
        Object symbol = ((Optional<?>) type("SymbolLookup").getMethod("find", String.class).invoke(symbols, function))
                .orElseThrow(() -> new NoSuchMethodException("the library has no such function"));
        MethodHandle made = (MethodHandle) type("Linker")
                .getMethod("downcallHandle", type("MemorySegment"), type("FunctionDescriptor"), options.getClass())
                .invoke(linker, symbol, descriptor, options);
        functions.put(function, made);
        return made;
    }

    private static Object layout(Class<?> of) throws ReflectiveOperationException {
        String field = of == Long.class ? "JAVA_LONG" : of == Integer.class ? "JAVA_INT" : "JAVA_BYTE";
        return type("ValueLayout").getField(field).get(null);
    }

    private static Class<?> type(String type) throws ClassNotFoundException {
        return Class.forName("java.lang.foreign." + type);
    }
}
