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

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollSocketChannelConfig;
import io.netty.channel.nio.AbstractNioChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.UnixChannel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Opcodes;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Classes with casts, loaded as they have become, and called with a channel that is of no class of Netty.
 */
@Tag("quick")
class HardCastsTest {
    private final Map<String, String> casts = new HashMap<>();
    private final List<String> calls = new ArrayList<>();

    /** Like {@code ChannelInitializer}: what extends it with a class of channels has a bridge method. */
    abstract static class Setup<C> {
        abstract void set(C channel);

        @SuppressWarnings("unchecked")
        void call(Object channel) {
            set((C) channel);
        }
    }

    static class Plain extends Setup<NioSocketChannel> {
        @Override
        void set(NioSocketChannel channel) {
            channel.config().setTcpNoDelay(true).setKeepAlive(true);
            channel.flush();
        }
    }

    static class OfEpoll extends Setup<EpollSocketChannel> {
        @Override
        void set(EpollSocketChannel channel) {
            channel.config().setTcpNoDelay(true).setKeepAlive(true);
            channel.flush();
        }
    }

    /** With frames of the verifier that name the class. */
    static class Branches extends Setup<NioSocketChannel> {
        @Override
        void set(NioSocketChannel channel) {
            for (int i = 0; i < 1; i++) {
                NioSocketChannel same = i == 0 ? channel : null;
                if (same.equals(channel) && same.hashCode() != 1 && same.toString() != null) {
                    setMore(i, 1L, same);
                }
            }
        }

        private void setMore(int first, long second, NioSocketChannel channel) {
            channel.config().setTcpNoDelay(first < second);
            Runnable lambda = () -> channel.config().setKeepAlive(true);
            lambda.run();
            flush(channel);
        }

        private static Channel flush(NioSocketChannel channel) {
            return ("" + channel).isEmpty() ? null : channel.flush();
        }
    }

    static class Explicit extends Setup<Object> {
        private Object kept;

        @Override
        void set(Object channel) {
            ((NioSocketChannel) channel).config().setTcpNoDelay(true);
            kept = channel;
            SocketChannelConfig config = ((EpollSocketChannel) kept).config();
            ((EpollSocketChannelConfig) config).setKeepAlive(true);
            ((NioSocketChannel) kept).flush();
        }
    }

    static class Lambda extends Setup<Object> {
        @Override
        void set(Object channel) {
            Setup<Object> classes = new Plain().getClass() == Plain.class ? this : null;
            Consumer<NioSocketChannel> first = each -> each.config().setTcpNoDelay(classes == this);
            accept(first, channel);
            accept((EpollSocketChannel each) -> each.config().setKeepAlive(true), channel);
            accept((NioSocketChannel each) -> each.flush(), channel);
        }

        @SuppressWarnings("unchecked")
        private static <T> void accept(Consumer<T> consumer, Object channel) {
            consumer.accept((T) channel);
        }
    }

    /** The bridge of the class above is not the one that is called. */
    static class Override1 extends Plain {
        @Override
        void set(NioSocketChannel channel) {
            channel.config().setTcpNoDelay(true).setKeepAlive(true);
            channel.flush();
        }
    }

    static class Server extends Setup<NioServerSocketChannel> {
        @Override
        void set(NioServerSocketChannel channel) {
            channel.config().setBacklog(1);
            channel.flush();
        }
    }

    static class MethodOfTheClass extends Setup<EpollSocketChannel> {
        @Override
        void set(EpollSocketChannel channel) {
            channel.config().setTcpQuickAck(true);
        }
    }

    static class Unsafe extends Setup<NioSocketChannel> {
        @Override
        void set(NioSocketChannel channel) {
            channel.unsafe().finishConnect();
        }
    }

    static class ParameterOfOthers extends Setup<NioSocketChannel> {
        @Override
        void set(NioSocketChannel channel) {
            new Plain().set(channel);
        }
    }

    static class Field extends Setup<NioSocketChannel> {
        private NioSocketChannel kept;

        @Override
        void set(NioSocketChannel channel) {
            kept = channel;
            kept.flush();
        }
    }

    static class ClassAbove extends Setup<NioSocketChannel> {
        @Override
        void set(NioSocketChannel channel) {
            flush(channel);
        }

        private static void flush(AbstractNioChannel channel) {
            channel.flush();
        }
    }

    static class InterfaceAbove extends Setup<EpollSocketChannel> {
        @Override
        void set(EpollSocketChannel channel) {
            descriptor(channel);
        }

        private static int descriptor(UnixChannel channel) {
            return channel.fd().intValue();
        }
    }

    static class Elements extends Setup<NioSocketChannel> {
        @Override
        void set(NioSocketChannel channel) {
            List.of(new NioSocketChannel[] {channel});
        }
    }

    static class SuperMethod extends Plain {
        @Override
        void set(NioSocketChannel channel) {
            super.set(channel);
        }
    }

    static class Virtual extends Setup<NioSocketChannel> {
        @Override
        void set(NioSocketChannel channel) {
            more(channel);
        }

        void more(NioSocketChannel channel) {
            channel.flush();
        }
    }

    /** Above is a class of others, whose bridge may be for this method, by a compiler that makes none here. */
    static class BelowOthers extends ClassVisitor {
        BelowOthers() {
            super(Opcodes.ASM9);
        }

        void set(NioSocketChannel channel) {
            channel.flush();
        }
    }

    static class Guarded extends Setup<Object> {
        @Override
        void set(Object channel) {
            if (channel instanceof EpollSocketChannel) {
                ((EpollSocketChannel) channel).config().setTcpQuickAck(true);
            }
        }
    }

    private byte[] look(String name) throws IOException {
        byte[] bytes;
        try (InputStream in = HardCastsTest.class.getResourceAsStream("HardCastsTest$" + name + ".class")) {
            bytes = in.readAllBytes();
        }
        return new HardCasts(casts, Set.of()).look(HardCastsTest.class.getClassLoader(),
                "io/netty/channel/rdma/agent/transform/HardCastsTest$" + name, bytes);
    }

    /** The class in a loader of its own, with the one that it extends, as it has become. */
    private void call(String name, Object channel) throws Exception {
        ClassLoader loader = new ClassLoader(HardCastsTest.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String className, boolean resolve) throws ClassNotFoundException {
                String simple = className.substring(className.lastIndexOf('$') + 1);
                if (!className.startsWith(HardCastsTest.class.getName() + '$')) {
                    return super.loadClass(className, resolve);
                }
                try (InputStream in = HardCastsTest.class.getResourceAsStream("HardCastsTest$" + simple + ".class")) {
                    byte[] changed = look(simple);
                    byte[] bytes = changed != null ? changed : in.readAllBytes();
                    Class<?> loaded = findLoadedClass(className);
                    return loaded != null ? loaded : defineClass(className, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(className, e);
                }
            }
        };
        Class<?> type = loader.loadClass(HardCastsTest.class.getName() + '$' + name);
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Object setup = constructor.newInstance();
        Method call = type.getClassLoader().loadClass(HardCastsTest.class.getName() + "$Setup")
                .getDeclaredMethod("call", Object.class);
        call.setAccessible(true);
        try {
            call.invoke(setup, channel);
        } catch (InvocationTargetException e) {
            throw (Exception) e.getCause();
        }
    }

    /** A channel whose methods do nothing, but write down which were called. */
    private <T> T channel(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                    case "hashCode":
                        return 0;
                    case "equals":
                        return proxy == arguments[0];
                    case "toString":
                        return "a channel";
                    case "config":
                        return channel(method.getReturnType());
                    default:
                        calls.add(method.getName());
                        return proxy;
                    }
                }));
    }

    @ParameterizedTest
    @ValueSource(strings = { "Plain", "OfEpoll", "Branches", "Lambda", "Override1" })
    void castsThatAnInterfaceIsEnoughForAreToIt(String name) throws Exception {
        call(name, channel(SocketChannel.class));
        assertThat(calls).containsExactly("setTcpNoDelay", "setKeepAlive", "flush");
        assertThat(casts).isEmpty();
    }

    @Test
    void castsWithinAMethodAreToTheInterfaceOfAConfigurationToo() throws Exception {
        call("Explicit", channel(SocketChannel.class));
        assertThat(calls).containsExactly("setTcpNoDelay", "setKeepAlive", "flush");
        assertThat(casts).isEmpty();
    }

    @Test
    void castsToAListenerAreToItsInterface() throws Exception {
        call("Server", channel(ServerSocketChannel.class));
        assertThat(calls).containsExactly("setBacklog", "flush");
        assertThat(casts).isEmpty();
    }

    @Test
    void channelOfTheClassRunsTheMethodThatTheClassHas() throws Exception {
        NioSocketChannel channel = new NioSocketChannel() {
            @Override
            public Channel flush() {
                StackWalker.getInstance().forEach(frame -> calls.add(frame.getMethodName()));
                return this;
            }
        };
        try {
            call("Plain", channel);
            assertThat(channel.config().isTcpNoDelay()).isTrue();
            assertThat(calls).startsWith("flush", "set", "set", "call");
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    @Test
    void whatIsNoChannelIsStillRefused() {
        assertThatThrownBy(() -> call("Plain", "no channel")).isInstanceOf(ClassCastException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = { "MethodOfTheClass", "Unsafe", "ParameterOfOthers", "Field", "ClassAbove",
            "InterfaceAbove", "Elements", "SuperMethod", "Virtual", "BelowOthers" })
    void classThatNeedsAClassOfChannelsStaysAsItIs(String name) throws IOException {
        assertThat(look(name)).isNull();
        assertThat(casts.values()).isNotEmpty().allMatch(where -> where.startsWith(HardCastsTest.class.getName() +
                '$' + name + '.'));
    }

    @Test
    void castAfterInstanceofStaysAsItIs() throws IOException {
        assertThat(look("Guarded")).isNull();
        assertThat(casts).isEmpty();
    }
}
