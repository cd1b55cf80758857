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
package io.netty.microbench.rdma.bench;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.Promise;

/**
 * Connections on which nothing ever moves. Not to be used on their event loop.
 */
final class IdleConnections {
    private static final int AT_A_TIME = 16;

    private final Bootstrap bootstrap;
    private final EventLoop loop;
    private final ChannelGroup open;
    private Promise<Void> opened;
    private int toStart;
    private int toEnd;

    /**
     * @param bootstrap knows the server's address
     * @param loop      the event loop of all of them
     */
    IdleConnections(Bootstrap bootstrap, EventLoop loop) {
        this.bootstrap = bootstrap.clone(loop).handler(new Silent());
        this.loop = loop;
        open = new DefaultChannelGroup(loop);
    }

    /**
     * Opens some more, {@value #AT_A_TIME} at a time.
     *
     * @return nanoseconds that it took
     */
    long open(int count) throws Exception {
        Promise<Void> promise = loop.newPromise();
        long start = System.nanoTime();
        loop.execute(() -> {
            opened = promise;
            toStart = count;
            toEnd = count;
            for (int i = 0; i < AT_A_TIME; i++) {
                next();
            }
        });
        promise.get();
        return System.nanoTime() - start;
    }

    private void next() {
        if (toStart == 0) {
            return;
        }
        toStart--;
        bootstrap.connect().addListener((ChannelFutureListener) connected -> {
            if (!connected.isSuccess()) {
                opened.tryFailure(connected.cause());
                return;
            }
            open.add(connected.channel());
            toEnd--;
            if (toEnd == 0) {
                opened.trySuccess(null);
            }
            next();
        });
    }

    /** Closes all, and returns when they are closed at this end. */
    void close() throws Exception {
        open.close().sync();
    }

    /** An echo server has nothing to say to who says nothing. */
    @Sharable
    private static final class Silent extends ChannelInboundHandlerAdapter {
    }
}
