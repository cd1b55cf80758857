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
package io.netty.channel.rdma.loop;

import io.netty.channel.IoHandle;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The registration of an epoll channel with the {@link EpollIoHandler} of a loop.
 *
 * <p>{@link EpollIoHandler} removes a descriptor from the epoll set when its channel wants no event at all
 * (netty/netty#16689). When the channel wants an event again, the handler does not add the descriptor, but modifies it,
 * and {@code epoll_ctl} fails with {@code ENOENT} (seen with Netty 4.2.17; 4.2.20 has the same code). A channel wants
 * no event when its peer has half closed. If its socket buffer is full after that, the rest of the written data is
 * lost. So this class makes a new registration in place of one that may be out of the set.
 */
final class EpollRegistration implements IoRegistration {
    private final EpollIoHandler epoll;
    private final IoHandle handle;
    private IoRegistration current;
    /** True if the channel wants no event, so that it may be out of the set. */
    private boolean idle;

    EpollRegistration(EpollIoHandler epoll, IoHandle handle) throws Exception {
        this.epoll = epoll;
        this.handle = handle;
        current = epoll.register(handle);
    }

    @Override
    public synchronized <T> T attachment() {
        return current.attachment();
    }

    @Override
    public synchronized long submit(IoOps ops) {
        boolean wanted = ((EpollIoOps) ops).value() != 0;
        if (wanted && idle && current.isValid()) {
            current.cancel();
            try {
                current = epoll.register(handle);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        idle = !wanted;
        return current.submit(ops);
    }

    @Override
    public synchronized boolean isValid() {
        return current.isValid();
    }

    @Override
    public synchronized boolean cancel() {
        return current.cancel();
    }
}
