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
package io.netty.channel.rdma.vertx;

import io.netty.util.internal.SystemPropertyUtil;
import io.vertx.core.internal.VertxBootstrap;
import io.vertx.core.spi.VertxServiceProvider;
import io.vertx.core.transport.Transport;

/**
 * A provider for the service loader of Vert.x. Without {@link RdmaTransport#PROPERTY} it does nothing, because this
 * library may be on the class path of applications that don't use it.
 */
public final class RdmaTransportProvider implements VertxServiceProvider {
    /** For the service loader. */
    public RdmaTransportProvider() {
    }

    @Override
    public void init(VertxBootstrap bootstrap) {
        String name = SystemPropertyUtil.get(RdmaTransport.PROPERTY);
        if (name == null) {
            return;
        }
        boolean isRdma = bootstrap.transport() instanceof RdmaTransportImplementation;
        switch (name) {
            case "rdma":
                if (!isRdma) {
                    set(bootstrap, RdmaTransport.rdma());
                }
                break;
            case "rdma-or-tcp":
                if (!isRdma) {
                    set(bootstrap, RdmaTransport.rdmaOrTcp());
                }
                break;
            case "tcp":
                if (isRdma) {
                    set(bootstrap, tcp());
                }
                break;
            default:
                throw new IllegalArgumentException("the system property " + RdmaTransport.PROPERTY + " is '" + name +
                        "': it must be rdma, rdma-or-tcp or tcp, or not be set");
        }
    }

    /** By reflection, because from Vert.x 5.0.12 on the method returns another type, and calls would not link. */
    private static void set(VertxBootstrap bootstrap, Transport transport) {
        try {
            VertxBootstrap.class.getMethod("transport", io.vertx.core.spi.transport.Transport.class)
                    .invoke(bootstrap, transport.implementation());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this version of Vert.x can't be given a transport", e);
        }
    }

    private static Transport tcp() {
        Transport transport = Transport.nativeTransport();
        return transport != null && transport.available() ? transport : Transport.NIO;
    }
}
