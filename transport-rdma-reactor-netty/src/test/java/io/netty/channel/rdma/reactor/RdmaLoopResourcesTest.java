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
package io.netty.channel.rdma.reactor;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.rdma.RdmaIoHandle;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.DomainDatagramChannel;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.channel.unix.ServerDomainSocketChannel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;
import reactor.netty.resources.LoopResources;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.reactor.Transport.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("oldest")
class RdmaLoopResourcesTest {
    private final List<LoopResources> created = new ArrayList<>();

    @AfterEach
    void dispose() {
        created.forEach(Transport::dispose);
    }

    private <L extends LoopResources> L disposedLater(L loops) {
        created.add(loops);
        return loops;
    }

    private static Thread thread(EventLoop loop) throws Exception {
        return TestTimeouts.result(loop.submit(Thread::currentThread));
    }

    @Test
    void eventLoopsServeRdma() {
        LoopResources loops = disposedLater(RdmaLoopResources.create("a"));
        assertThat(((IoEventLoopGroup) loops.onServer(true)).isCompatible(RdmaIoHandle.class)).isTrue();
    }

    @Test
    void serversAndClientsShareEventLoopsWhateverThePreference() {
        LoopResources loops = disposedLater(RdmaLoopResources.create("a", 3, true));
        EventLoopGroup workers = loops.onServer(true);
        assertThat(workers).hasSize(3);
        assertThat(loops.onServer(false)).isSameAs(workers);
        assertThat(loops.onServerSelect(true)).isSameAs(workers);
        assertThat(loops.onClient(true)).isSameAs(loops.onClient(false)).containsExactlyElementsOf(workers);
    }

    @Test
    void listenersGetEventLoopsOfTheirOwnIfThatIsAsked() {
        LoopResources loops = disposedLater(RdmaLoopResources.builder("a").selectCount(1).workerCount(2).build());
        assertThat(loops.onServerSelect(true)).hasSize(1).doesNotContainAnyElementsOf(loops.onServer(true));
    }

    @Test
    void threadsAreNamedAndMustNotBeBlocked() throws Exception {
        LoopResources loops = disposedLater(
                RdmaLoopResources.builder("name").selectCount(1).workerCount(1).daemon(false).build());
        Thread worker = thread(loops.onServer(true).next());
        Thread selector = thread(loops.onServerSelect(true).next());
        assertThat(worker.getName()).startsWith("name-rdma-");
        assertThat(selector.getName()).startsWith("name-select-rdma-");
        assertThat(worker.isDaemon()).isFalse();
        assertThat(worker).isInstanceOf(NonBlocking.class);
        assertThat(thread(disposedLater(RdmaLoopResources.create("other")).onServer(true).next()).isDaemon()).isTrue();
    }

    @Test
    void clientsStayOnTheEventLoopTheyConnectFrom() throws Exception {
        LoopResources loops = disposedLater(RdmaLoopResources.create("a", 4, true));
        EventLoopGroup clients = loops.onClient(true);
        for (EventExecutor loop : loops.onServer(true)) {
            // The thread learns of its loop by a task that runs before this one.
            assertThat(TestTimeouts.result(loop.submit(clients::next))).isSameAs(loop);
        }
        LoopResources others = disposedLater(RdmaLoopResources.builder("b").colocate(false).build());
        assertThat(others.onClient(true)).isSameAs(others.onServer(true));
    }

    @Test
    void typesOfChannels() {
        LoopResources loops = disposedLater(RdmaLoopResources.create("a", 1, true));
        EventLoopGroup group = loops.onClient(true);
        assertThat(loops.onChannelClass(SocketChannel.class, group)).isEqualTo(RdmaOrTcpSocketChannel.class);
        assertThat(loops.onChannelClass(ServerSocketChannel.class, group))
                .isEqualTo(RdmaOrTcpServerSocketChannel.class);
        assertThat(loops.onChannelClass(DatagramChannel.class, group)).isEqualTo(EpollDatagramChannel.class);
        assertThat(loops.onChannelClass(DomainSocketChannel.class, group)).isEqualTo(EpollDomainSocketChannel.class);
        assertThat(loops.onChannelClass(ServerDomainSocketChannel.class, group))
                .isEqualTo(EpollServerDomainSocketChannel.class);
        assertThat(loops.onChannelClass(DomainDatagramChannel.class, group))
                .isEqualTo(EpollDomainDatagramChannel.class);
        for (Class<? extends Channel> type : List.of(SocketChannel.class, ServerSocketChannel.class,
                DatagramChannel.class, DomainSocketChannel.class, ServerDomainSocketChannel.class,
                DomainDatagramChannel.class)) {
            Channel channel = loops.onChannel(type, group);
            channel.unsafe().closeForcibly();
            assertThat(channel).isInstanceOf(loops.onChannelClass(type, group));
        }
        assertThatThrownBy(() -> loops.onChannel(RdmaSocketChannel.class, group))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(RdmaSocketChannel.class.getSimpleName());
    }

    @Test
    void tasksThatComeBeforeTheEndRun() throws Exception {
        LoopResources loops = RdmaLoopResources.create("a", 1, true);
        EventLoop loop = loops.onServer(true).next();
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        Future<Integer> late;
        try {
            loop.execute(() -> awaitUninterruptibly(release));
            loops.disposeLater(Duration.ofMillis(20), LIMIT).subscribe(nothing -> { }, error -> { }, ended::countDown);
            assertThat(loops.isDisposed()).isTrue();
            late = loop.submit(() -> 1);
        } finally {
            release.countDown();
        }
        assertThat(TestTimeouts.result(late)).isEqualTo(1);
        assertThat(ended.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(loop.isTerminated()).isTrue();
        assertThatThrownBy(() -> loop.submit(() -> 2)).isInstanceOf(RejectedExecutionException.class);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void endTwice() {
        LoopResources loops = RdmaLoopResources.builder("a").selectCount(1).workerCount(1).build();
        EventLoopGroup clients = loops.onClient(true);
        loops.onServerSelect(true);
        assertThat(loops.isDisposed()).isFalse();
        // Nothing happens before somebody subscribes.
        Mono<Void> end = loops.disposeLater(Duration.ZERO, LIMIT);
        assertThat(loops.isDisposed()).isFalse();
        end.block(LIMIT);
        assertThat(clients.isTerminated()).isTrue();
        end.block(LIMIT);
        loops.dispose();
        assertThat(loops.isDisposed()).isTrue();
    }

    @Test
    void noEventLoopsAfterTheEnd() {
        LoopResources loops = RdmaLoopResources.create("gone");
        loops.disposeLater().block(LIMIT);
        assertThatThrownBy(() -> loops.onServer(true)).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("gone");
    }

    @Test
    void endThatTakesTooLongIsTold() throws Exception {
        LoopResources loops = RdmaLoopResources.create("busy", 1, true);
        EventLoop loop = loops.onServer(true).next();
        CountDownLatch release = new CountDownLatch(1);
        try {
            loop.execute(() -> awaitUninterruptibly(release));
            assertThatThrownBy(() -> loops.disposeLater(Duration.ZERO, Duration.ofMillis(50)).block(LIMIT))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("busy");
        } finally {
            release.countDown();
            TestTimeouts.await(loop.terminationFuture());
        }
    }

    @Test
    void limitsOfCounts() {
        assertThatThrownBy(() -> RdmaLoopResources.create("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RdmaLoopResources.create("a", 0, true)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RdmaLoopResources.builder("a").selectCount(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(RdmaLoopResources.builder("a").workerCount(7).selectCount(-1).build().toString())
                .contains("workerCount=7", "selectCount=-1");
    }
}
