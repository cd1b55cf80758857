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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBufHolder;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * The receives that the application posts, into memory of its own. The memory is retained while the device may write to
 * it, until the receive completes or the queue pair is gone. A receive that fails is a user event.
 */
final class ManualReceives implements Receives {
    private static final String SCATTER = "MLX5_SCATTER_TO_CQE";

    /** The kernel's devices (sysfs(5), Documentation/ABI/stable/sysfs-class-infiniband); tests replace the folder. */
    static volatile Path devices = Path.of("/sys/class/infiniband");

    private final ChannelPipeline pipeline;
    private final ChannelQueuePair queuePair;
    private final Runnable early;
    private final ReceiveWorkRequests chain;
    /** The memory of each receive by slot. Receives of a queue pair complete in the order in which they were posted. */
    private final ReceiveTarget[] posted;
    private final Queue<RdmaReceive> arrived = new ArrayDeque<>();
    private final String copying;
    private int first;
    private int count;

    /**
     * @param pipeline is told of receives that fail.
     * @param early posts the receives from before there was a queue pair.
     */
    ManualReceives(ChannelPipeline pipeline, ChannelQueuePair queuePair, Runnable early) {
        this.pipeline = pipeline;
        this.queuePair = queuePair;
        this.early = early;
        posted = new ReceiveTarget[queuePair.receiveDepth()];
        chain = new ReceiveWorkRequests(1, Math.max(1, queuePair.queuePair().maxReceiveSges()));
        String device = queuePair.device().name();
        copying = copiesShortMessages(devices, device, System.getenv(SCATTER)) ? device : null;
    }

    /**
     * Returns whether the processor copies short messages out of their completions, as libmlx5 does unless it is told
     * not to (rdma-core, providers/mlx5/verbs.c).
     *
     * @param devices the folder of the kernel's devices, by name.
     * @param scatter the value of {@code MLX5_SCATTER_TO_CQE}, or {@code null}.
     */
    static boolean copiesShortMessages(Path devices, String device, String scatter) {
        if ("0".equals(scatter)) {
            return false;
        }
        try {
            return Files.readSymbolicLink(devices.resolve(device).resolve("device/driver")).getFileName().toString()
                    .startsWith("mlx5");
        } catch (IOException | RuntimeException e) {
            // No device of the kernel.
            return false;
        }
    }

    @Override
    public void postAll() {
        early.run();
    }

    /**
     * Posts a receive.
     *
     * @param target belongs to this object if nothing is thrown.
     * @throws IllegalStateException if there is no room for it in the receive queue.
     */
    void post(ReceiveTarget target) throws VerbsException {
        if (count == posted.length) {
            throw new IllegalStateException(count + " receives are posted already: wait for messages, or raise " +
                    "RECEIVE_QUEUE_DEPTH");
        }
        int slot = (first + count) % posted.length;
        chain.clear();
        chain.receive(-1L - slot);
        try {
            target.addTo(chain, queuePair, copying);
            QueuePair qp = queuePair.queuePair();
            if (qp.postReceive(chain) == 0) {
                throw qp.postException();
            }
        } catch (Throwable t) {
            target.releaseMemory();
            throw t;
        }
        posted[slot] = target;
        count++;
    }

    private ReceiveTarget remove() {
        ReceiveTarget target = posted[first];
        posted[first] = null;
        first = (first + 1) % posted.length;
        count--;
        target.releaseMemory();
        return target;
    }

    @Override
    public void completed(WorkCompletions completions, int index) {
        ReceiveTarget target = remove();
        if (completions.isSuccess(index)) {
            boolean immediate = completions.hasImmediate(index);
            arrived.add(target.arrived(completions.opcode(index), completions.byteLength(index), immediate,
                    immediate ? completions.immediate(index) : 0));
        } else {
            arrived.add(target.failed(completions.status(index)));
        }
    }

    @Override
    public int count() {
        return arrived.size();
    }

    @Override
    public ByteBufHolder take() {
        RdmaReceive receive = arrived.remove();
        if (receive.status() == WorkCompletionStatus.SUCCESS) {
            return receive;
        }
        pipeline.fireUserEventTriggered(receive);
        return null;
    }

    @Override
    public void repost() {
        // The application does.
    }

    @Override
    public boolean isFlushed() {
        return count == 0;
    }

    @Override
    public void release() {
        while (count > 0) {
            remove().release();
        }
        for (RdmaReceive message; (message = arrived.poll()) != null;) {
            message.release();
        }
    }
}
