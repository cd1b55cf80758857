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
package io.netty.channel.rdma.agent.hooks;

import io.netty.bootstrap.ChannelFactory;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.util.concurrent.ThreadAwareExecutor;

/**
 * Methods that the changed classes of Netty call ({@code Patches}), in place of the call that begins each comment. If a
 * hook fails, the program gets the object that it would have without the agent. Any thread.
 */
public final class Hooks {
    private Hooks() { }

    /** {@code factory.newHandler(executor)}, in the constructors of event loops. */
    public static IoHandler newHandler(IoHandlerFactory factory, ThreadAwareExecutor executor) {
        IoHandler handler = factory.newHandler(executor);
        try {
            return Swaps.around(handler, executor);
        } catch (Throwable t) {
            Report.failed("event loops", t);
            return handler;
        }
    }

    /** {@code ioHandler()}, where the result is cast to the class that the program has asked for. */
    public static IoHandler tcpHandler(IoHandler handler) {
        return handler instanceof RdmaIoHandler ? ((RdmaIoHandler) handler).tcpHandler() : handler;
    }

    /** {@code handler.getClass()}, in {@code isIoType}. */
    public static Class<?> classOf(Object handler) {
        return handler instanceof RdmaIoHandler ? ((RdmaIoHandler) handler).tcpHandler().getClass() :
                handler.getClass();
    }

    /** {@code factory.newChannel()}, in bootstraps. */
    @SuppressWarnings("deprecation") // what bootstraps have
    public static Channel newChannel(ChannelFactory<?> factory) {
        Channel swapped = null;
        try {
            swapped = Swaps.insteadOf(factory);
        } catch (Swaps.RequiredException e) {
            throw e;
        } catch (Throwable t) {
            Report.failed("channels", t);
        }
        return swapped != null ? swapped : (Channel) inPlaceOf(factory.newChannel());
    }

    /** The result of a channel factory, in classes outside of Netty. */
    public static Object inPlaceOf(Object channel) {
        try {
            return channel instanceof Channel ? Swaps.inPlaceOf((Channel) channel) : channel;
        } catch (Swaps.RequiredException e) {
            throw e;
        } catch (Throwable t) {
            Report.failed("channels", t);
            return channel;
        }
    }

    /** {@code config.setOption(option, value)}, in bootstraps. */
    @SuppressWarnings("unchecked")
    public static boolean setOption(ChannelConfig config, ChannelOption<?> option, Object value) {
        boolean rdma = false;
        try {
            rdma = TranslatedOptions.isOfRdma(config);
            if (rdma && TranslatedOptions.isStockAllocator(option, value)) {
                return true;
            }
        } catch (Throwable t) {
            Report.failed("allocators", t);
        }
        boolean known = config.setOption((ChannelOption<Object>) option, value);
        try {
            return rdma && TranslatedOptions.setLike(config, option, value, known) || known;
        } catch (Throwable t) {
            Report.failed("options", t);
            return known;
        }
    }

    /** An added call, before a channel is registered with an event loop. */
    public static void registering(ChannelPromise promise) {
        try {
            TranslatedOptions.inheritAllocator(promise.channel());
        } catch (Throwable t) {
            Report.failed("allocators of streams", t);
        }
    }
}
