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
package io.netty.channel.rdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import org.junit.jupiter.api.Test;

import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Class loaders that come and go in one JVM, as when an application is deployed anew, each with classes and a native
 * library of its own: they are collected, and nothing stays but the library's code.
 */
class RdmaRedeployTest {
    private static final int CYCLES = 4;

    @Test
    void deploymentsLeaveNoThreadsDescriptorsAndMappings() throws Exception {
        try (ChildJvm server = new ChildJvm(Deployments.class, List.of())) {
            for (int i = 0; i < CYCLES; i++) {
                assertThat(server.line("left")).isEqualTo("[], class loader collected");
            }
        }
    }

    /** Part of an application server. It uses no class of the transport or of Netty itself. */
    static final class Deployments {
        private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);

        private Deployments() {
        }

        public static void main(String[] arguments) throws Exception {
            // The first socket has the JDK keep another one.
            SocketChannel.open().close();
            List<String> before = descriptors();
            for (int i = 0; i < CYCLES; i++) {
                WeakReference<ClassLoader> loader = CompletableFuture.supplyAsync(Deployments::deploy,
                        // One that ends, and what Netty keeps in it.
                        task -> new Thread(task).start()).get();
                long end = System.nanoTime() + PATIENCE_NANOS;
                while (!(left(before).isEmpty() && loader.get() == null) && System.nanoTime() < end) {
                    System.gc();
                    Thread.sleep(10);
                }
                System.out.println("left " + left(before) + ", class loader " +
                        (loader.get() == null ? "collected" : "not collected"));
            }
        }

        private static WeakReference<ClassLoader> deploy() {
            try {
                List<URL> classPath = new ArrayList<>();
                for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
                    classPath.add(new File(path).toURI().toURL());
                }
                try (URLClassLoader loader = new URLClassLoader(classPath.toArray(new URL[0]),
                        ClassLoader.getPlatformClassLoader())) {
                    loader.loadClass(RdmaRedeployTest.class.getName() + "$Application").getMethod("run").invoke(null);
                    return new WeakReference<>(loader);
                }
            } catch (IOException | ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        /** The provider's threads, its mappings of own and of peers' memory, and new descriptors. */
        private static List<String> left(List<String> before) throws IOException {
            List<String> left = new ArrayList<>();
            for (Path task : list("/proc/self/task")) {
                try {
                    left.add(Files.readString(task.resolve("comm")).trim());
                } catch (NoSuchFileException ignore) {
                    // The thread has ended.
                    continue;
                }
            }
            left.removeIf(name -> !name.startsWith("rdma-"));
            Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(line -> line.contains("/memfd:rdma-"))
                    .forEach(left::add);
            descriptors().stream().filter(descriptor -> !before.contains(descriptor)).forEach(left::add);
            return left;
        }

        /** The targets of open descriptors, without files: the JVM opens jars when it likes. */
        private static List<String> descriptors() throws IOException {
            List<String> descriptors = new ArrayList<>();
            for (Path descriptor : list("/proc/self/fd")) {
                try {
                    descriptors.add(Files.readSymbolicLink(descriptor).toString());
                } catch (NoSuchFileException ignore) {
                    // The listing's own descriptor.
                    continue;
                }
            }
            descriptors.removeIf(name -> !name.matches("(anon_inode|socket):.*"));
            return descriptors;
        }

        private static List<Path> list(String folder) throws IOException {
            try (Stream<Path> entries = Files.list(Path.of(folder))) {
                return entries.collect(Collectors.toList());
            }
        }
    }

    /** The deployed application. */
    public static final class Application {
        private Application() {
        }

        public static void run() throws Exception {
            EventLoopGroup group = new RdmaEventLoopGroup(2);
            CountDownLatch echoed = new CountDownLatch(1);
            Channel server = TestTimeouts.sync(new ServerBootstrap().group(group)
                    .channel(RdmaServerSocketChannel.class).childHandler(new Echo()).bind(TestAddress.anyPort()))
                    .channel();
            Channel client = TestTimeouts.sync(new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object message) {
                            ReferenceCountUtil.release(message);
                            echoed.countDown();
                        }
                    }).connect(server.localAddress())).channel();
            TestTimeouts.sync(client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1000])));
            assertThat(echoed.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            TestTimeouts.sync(client.close());
            TestTimeouts.sync(server.close());
            TestTimeouts.shutdown(group);
            TestTimeouts.awaitTrue(() -> RdmaMetrics.pinnedMemory() == 0);
            GlobalEventExecutor.INSTANCE.awaitInactivity(TestTimeouts.SECONDS, TimeUnit.SECONDS);
        }
    }

    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }
    }
}
