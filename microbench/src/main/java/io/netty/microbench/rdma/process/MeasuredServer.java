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
package io.netty.microbench.rdma.process;

import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ServerRun;

import java.util.Arrays;

/**
 * The process of a server that is measured: the server as it runs alone, and a {@link Control} beside it. The process
 * ends when its standard input ends, so no later than its parent.
 */
public final class MeasuredServer {
    private MeasuredServer() {
    }

    /** Runs a server. The arguments are the name of its main class, and those of that class. */
    public static void main(String[] args) throws ReflectiveOperationException {
        ServerRun.whenListening(MeasuredServer::control);
        Class.forName(args[0]).getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
    }

    private static void control(EventLoopGroup group) {
        Thread thread = new Thread(() -> {
            int status = 0;
            try {
                new Control(group).run();
            } catch (Exception e) {
                // The parent notices that there is no answer. The stack trace is the reason.
                e.printStackTrace();
                status = 1;
            }
            System.exit(status);
        }, "control");
        thread.setDaemon(true);
        thread.start();
    }
}
