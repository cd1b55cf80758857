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
package io.netty.example.rdma.echo.compare;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.Commands;
import io.netty.example.rdma.TransportOptions;
import io.netty.example.rdma.compare.Measurement;
import io.netty.example.rdma.compare.Plan;
import io.netty.util.concurrent.Promise;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * The client's process: measures one thing after the other against a {@link MeasuredServer} and prints a
 * {@link Measurement} a line.
 */
@Command(name = "measuring-client")
final class MeasuringClient implements Callable<Integer> {
    @Mixin
    private TransportOptions options;

    @Option(names = "--host", required = true)
    private String host;

    @Option(names = "--echo-port", required = true)
    private int echoPort;

    @Option(names = "--stream-port", required = true)
    private int streamPort;

    @Option(names = "--plan", defaultValue = "FULL")
    private Plan plan;

    private MeasuringClient() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new MeasuringClient(), args));
    }

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        try {
            for (int bytes : EchoMeasurements.MESSAGE_BYTES) {
                Promise<Measurement> result = group.next().newPromise();
                connect(group, echoPort, new PingPongHandler(bytes, plan, result));
                System.out.println(result.get());
            }
            for (int bytes : EchoMeasurements.WRITE_BYTES) {
                Promise<List<Measurement>> result = group.next().newPromise();
                connect(group, streamPort, new StreamSinkHandler(bytes, plan, result));
                result.get().forEach(System.out::println);
            }
            return 0;
        } finally {
            Commands.shutdown(group);
        }
    }

    private void connect(EventLoopGroup group, int port, ChannelHandler handler) throws InterruptedException {
        new Bootstrap().group(group).channel(options.transport().channelType()).handler(handler)
                .connect(options.transport().address(host, port)).sync();
    }
}
