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
package io.netty.channel.rdma.loop.move;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.loop.LoopDevice;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.LoopQueue;
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.QueuePairAttributes;
import io.netty.channel.rdma.verbs.QueuePairInitAttributes;
import io.netty.channel.rdma.verbs.QueuePairState;
import io.netty.channel.rdma.verbs.QueuePairType;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.WorkCompletions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The order of completions around the moves of a connection between event loops. Completions are those of receives that
 * are posted to a queue pair in the error state, which completes each at once.
 */
class CompletionRelayTest {
    private static final int RECEIVES = 256;

    private final EventLoopGroup first = new RdmaEventLoopGroup(1);
    private final EventLoopGroup second = new RdmaEventLoopGroup(1);
    private final Connection connection = new Connection();
    private LoopHandler polling;
    private LoopDevice device;
    private LoopQueue queue;
    private QueuePair queuePair;
    private LoopBinding binding;
    private CompletionRelay relay;

    /** The connection belongs to the first loop, which polls for it. */
    @BeforeEach
    void create() throws Exception {
        polling = handler(first.next());
        on(first, () -> {
            DeviceContext context = DeviceContext.of(Device.shared(Device.names().get(0)));
            device = polling.device(context);
            queue = device.reserve(RECEIVES, null);
            queuePair = context.domain.createQueuePair(new QueuePairInitAttributes(queue.queue, queue.queue)
                    .type(QueuePairType.RELIABLE_CONNECTION).maxReceiveRequests(RECEIVES));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).partitionKeyIndex(0).port(1)
                    .accessFlags(0));
            queuePair.toError();
            device.register(queuePair.number(), connection);
            binding = new LoopBinding(polling);
            relay = new CompletionRelay(device, queuePair.number(), connection, binding);
            return null;
        });
    }

    @AfterEach
    void end() throws Exception {
        EventLoopGroup last = device.loop.handler() == polling ? first : second;
        on(last, () -> {
            queuePair.close();
            relay.release();
            device.release(queue, RECEIVES, queuePair.number(), relay);
            device.unregister(queuePair.number());
            return null;
        });
        TestTimeouts.shutdown(first);
        TestTimeouts.shutdown(second);
    }

    private static LoopHandler handler(EventLoop loop) throws InterruptedException {
        RdmaSocketChannel channel = new RdmaSocketChannel();
        TestTimeouts.sync(loop.register(channel));
        TestTimeouts.sync(channel.close());
        return LoopHandler.all().elements().stream().filter(handler -> handler.loop() == loop).findAny().orElseThrow();
    }

    private static <T> T on(EventLoopGroup loop, Callable<T> task) throws Exception {
        return TestTimeouts.result(loop.submit(task));
    }

    /** Waits until the tasks that were handed to the loop, and what these hand to it, have run. */
    private static void settle(EventLoopGroup loop) throws Exception {
        for (int i = 0; i < 4; i++) {
            on(loop, () -> null);
        }
    }

    private void complete(int from, int to) throws Exception {
        ReceiveWorkRequests receives = new ReceiveWorkRequests(to - from, 0);
        for (int id = from; id < to; id++) {
            receives.receive(id);
        }
        assertThat(queuePair.postReceive(receives)).isEqualTo(to - from);
        device.drain(queue);
    }

    private void detach() {
        relay.detach();
        binding.detach();
    }

    private void attach(LoopHandler handler) throws Exception {
        relay.attach(handler);
        binding.attach(handler);
    }

    @Test
    void whatWasHandedOverComesBeforeWhatComesDirectly() throws Exception {
        on(first, () -> {
            detach();
            complete(0, 1);
            return null;
        });
        settle(first);
        assertThat(connection.ids).isEmpty();
        on(first, () -> {
            attach(polling);
            complete(1, 2);
            return null;
        });
        settle(first);
        on(first, () -> {
            complete(2, 3);
            return null;
        });
        settle(first);
        assertThat(connection.ids).containsExactly(0L, 1L, 2L);
    }

    @Test
    void whatIsNotHandedOverYetComesBeforeWhatComesDirectly() throws Exception {
        on(first, () -> {
            detach();
            attach(polling);
            // The relay is told of the end of these after the connection has its completions directly again.
            complete(0, 1);
            first.execute(() -> connection.run(() -> complete(1, 2)));
            return null;
        });
        settle(first);
        assertThat(connection.failure).isNull();
        assertThat(connection.ids).containsExactly(0L, 1L);
    }

    @Test
    void moreThanABatchKeepsItsOrder() throws Exception {
        on(first, () -> {
            detach();
            complete(0, 200);
            complete(200, RECEIVES);
            return null;
        });
        on(first, () -> {
            attach(polling);
            return null;
        });
        settle(first);
        assertThat(connection.ids).hasSize(RECEIVES).isSorted();
    }

    @Test
    void nothingComesBetweenTwoLoopsWhenThePollingOneEnds() throws Exception {
        LoopHandler other = handler(second.next());
        on(first, () -> {
            detach();
            return null;
        });
        on(second, () -> {
            attach(other);
            relay.detach();
            relay.leave();
            binding.detach();
            return null;
        });
        TestTimeouts.shutdown(first);
        settle(second);
        assertThat(device.loop.handler()).isSameAs(other);
        on(second, () -> {
            complete(0, 1);
            return null;
        });
        settle(second);
        assertThat(connection.ids).isEmpty();
        on(second, () -> {
            attach(other);
            return null;
        });
        settle(second);
        assertThat(connection.ids).containsExactly(0L);
    }

    /** The connection, which notes the numbers of its completions. */
    private static final class Connection extends CompletionHandler {
        private final List<Long> ids = new CopyOnWriteArrayList<>();
        private volatile Throwable failure;

        private interface Action {
            void run() throws Exception;
        }

        void run(Action action) {
            try {
                action.run();
            } catch (Throwable t) {
                failure = t;
            }
        }

        @Override
        public void completed(WorkCompletions completions, int index) {
            ids.add(completions.workRequestId(index));
        }

        @Override
        public void completionsDone() {
        }

        @Override
        public void failed(Throwable cause) {
            failure = cause;
        }

        @Override
        public void unexpected(Throwable cause) {
            failure = cause;
        }

        @Override
        public void destroy() {
        }
    }
}
