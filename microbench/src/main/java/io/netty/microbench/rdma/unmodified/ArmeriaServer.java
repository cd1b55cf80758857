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
package io.netty.microbench.rdma.unmodified;

import com.linecorp.armeria.common.CommonPools;
import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.HttpStatus;
import com.linecorp.armeria.common.MediaType;
import com.linecorp.armeria.server.Server;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.microbench.rdma.process.Control;

import java.net.InetSocketAddress;

/**
 * A server of Armeria, which chooses transport and event loops.
 */
public final class ArmeriaServer {
    private ArmeriaServer() {
    }

    /** Runs it until standard input ends. The argument is the address of this host. */
    public static void main(String[] args) throws Exception {
        Server server = Server.builder().http(new InetSocketAddress(args[0], 0))
                .service("/text", (context, request) -> HttpResponse.of(LibraryLoad.TEXT))
                .service("/echo", (context, request) -> HttpResponse.of(request.aggregate().thenApply(
                        whole -> HttpResponse.of(HttpStatus.OK, MediaType.OCTET_STREAM, whole.content()))))
                .build();
        server.start().join();
        System.out.println(ExampleServer.READY + args[0] + ':' + server.activeLocalPort());
        OverRdma.addTo(new Control(CommonPools.workerGroup())).run();
        System.exit(0);
    }
}
