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
package io.netty.example.rdma.verbs;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaConnectionRequest;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.verbs.DescriptorFiles.Descriptor;
import io.netty.util.NetUtil;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The command line options for the way in which the ends of a program find each other: by the connection manager, or by
 * descriptors in files. In both ways one end accepts, and the other connects.
 */
public final class ConnectionOptions {
    /** Default files of the samples of DOCA RDMA, in their rdma_common.h. */
    private static final String LOCAL = "/tmp/local_connection_desc_path.txt";
    private static final String REMOTE = "/tmp/remote_connection_desc_path.txt";
    private static final String MEMORY = "/tmp/remote_resource_desc_path.txt";

    @Option(names = "--host", description = "The address to listen on, or the peer's; with --descriptors that of this "
            + "host which chooses the device (default: 127.0.0.1, or that of an RDMA device if there is one).")
    private String host;

    @Option(names = "--port", defaultValue = "8080",
            description = "The port, 0 for any that is free (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "--descriptors", paramLabel = "FOLDER", description = "Connect without the connection manager: "
            + "each end writes a file in this folder, which tells where its queue pair and its memory are, and waits "
            + "for that of the other. Take a new folder for each run, in which nobody else can write.")
    private Path folder;

    @Option(names = {"-ld", "--local-descriptor", "--local-descriptor-path"}, arity = "0..1", paramLabel = "FILE",
            fallbackValue = LOCAL, description = "In place of --descriptors: the file that this end writes (default, "
            + "with one of the next two: ${FALLBACK-VALUE}).")
    private Path localDescriptor;

    @Option(names = {"-re", "-rd", "--remote-descriptor", "--remote-descriptor-path"}, arity = "0..1",
            paramLabel = "FILE", fallbackValue = REMOTE, description = "The file of the other end, which this one "
            + "waits for (default, as above: ${FALLBACK-VALUE}).")
    private Path remoteDescriptor;

    @Option(names = {"-m", "--mmap-descriptor-path"}, arity = "0..1", paramLabel = "FILE", fallbackValue = MEMORY,
            description = "Have the memory of the end that accepts in this file, which that end writes and the other "
            + "one waits for, and not in its descriptor (default: ${FALLBACK-VALUE}). Give it to both.")
    private Path memoryDescriptor;

    @Option(names = "--adopt", description = "Listen as an application that uses the connection manager itself, by an "
            + "event channel of its own, and have channels adopt its requests.")
    private boolean adopting;

    @Option(names = "--inline-receive", paramLabel = "BYTES", defaultValue = "0", description = "Up to this length, "
            + "have what arrives travel in its completion, if the device can: --states tells "
            + "(default: ${DEFAULT-VALUE}).")
    private int inlineReceive;

    @Option(names = "--states", description = "Print each state of the connection, and what its queue pair has got.")
    private boolean states;

    @Mixin
    private DeviceChoice device;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    private boolean isByDescriptors() {
        if (folder != null && isByFiles()) {
            throw new ParameterException(command.commandLine(), "either --descriptors, or -ld, -re and -m");
        }
        return folder != null || isByFiles();
    }

    private boolean isByFiles() {
        return localDescriptor != null || remoteDescriptor != null || memoryDescriptor != null;
    }

    private InetSocketAddress address(int chosenPort) throws IOException {
        return new InetSocketAddress(host == null ? LocalHost.address() : host, chosenPort);
    }

    /** Address to listen on, or of the peer, for a program that also has another transport. */
    public InetSocketAddress address() throws IOException {
        return address(port);
    }

    /** Address to listen on. The wildcard stands for an address of a device that was chosen. */
    private InetSocketAddress listenAddress(int chosenPort) throws IOException {
        return host == null && device.isNamed() ? new InetSocketAddress(chosenPort) : address(chosenPort);
    }

    /** Port of one of several ends that listen. */
    private int port(int number) {
        return port == 0 ? 0 : port + number;
    }

    /**
     * Waits for as many peers as there are ends. By the connection manager it prints the address, and returns when it
     * listens. By descriptors it returns when all ends are connected. Not to be called on an event loop.
     *
     * @param bound maximum time of the wait for each connection, or descriptor
     * @return the address on which it listens; {@code null} by descriptors
     */
    public InetSocketAddress accept(EventLoopGroup group, Duration bound, List<? extends VerbsEnd> ends)
            throws Exception {
        if (!isByDescriptors()) {
            return listen(group, bound, ends, port);
        }
        for (int i = 0; i < ends.size(); i++) {
            acceptByDescriptors(group, bound, ends.get(i), i);
        }
        return null;
    }

    /**
     * Waits for a peer, for one of several ends that accept connections of the same peer, each in a program of its own.
     * By the connection manager it listens at the port plus its number.
     *
     * @param number number of the end, from 0
     */
    public InetSocketAddress accept(EventLoopGroup group, Duration bound, VerbsEnd end, int number) throws Exception {
        if (!isByDescriptors()) {
            return listen(group, bound, List.of(end), port(number));
        }
        acceptByDescriptors(group, bound, end, number);
        return null;
    }

    private void acceptByDescriptors(EventLoopGroup group, Duration bound, VerbsEnd acceptor, int acceptorNumber)
            throws Exception {
        byDescriptors(group, acceptor, (end, descriptors, number) -> {
            // The peer may send as soon as it knows this end's descriptor, so this end connects its queue pair first.
            end.connect(descriptors.await(remote(client(number)), bound, Descriptor::read));
            Descriptor own = end.descriptor();
            if (memoryDescriptor != null) {
                descriptors.write(memoryDescriptor, own.introduction()::writeMemory);
                own = own.with(List.of());
            }
            descriptors.write(local(server(number)), own::write);
        }, acceptorNumber);
    }

    private InetSocketAddress listen(EventLoopGroup group, Duration bound, List<? extends VerbsEnd> ends,
                                     int listenPort) throws Exception {
        InetSocketAddress local;
        if (adopting) {
            if (device.isNamed()) {
                throw new ParameterException(command.commandLine(),
                        "--adopt: the address of --host chooses the device, not -d");
            }
            OwnListener listener = new OwnListener(group, address(listenPort), millis(bound), new Acceptor(ends));
            local = listener.localAddress();
            // Channels may need the listener until all ends are done.
            CompletableFuture.allOf(ends.stream().map(VerbsEnd::result).toArray(CompletableFuture[]::new))
                    .whenComplete((results, failure) -> listener.close());
        } else {
            Channel listener = device.of(new ServerBootstrap()).group(group).channel(RdmaServerMessageChannel.class)
                    .childOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis(bound))
                    .childHandler(new Acceptor(ends)).bind(listenAddress(listenPort)).sync().channel();
            local = (InetSocketAddress) listener.localAddress();
        }
        System.out.println(ExampleServer.READY + NetUtil.toSocketAddressString(local));
        return local;
    }

    /**
     * Connects to the peer that accepts. Not to be called on an event loop.
     *
     * @param bound  maximum time of the wait for the connection, or the peer's descriptor
     * @param number number of the end among those which the peer accepts, from 0; for descriptors only
     */
    public void connect(EventLoopGroup group, Duration bound, VerbsEnd end, int number) throws Exception {
        connect(group, bound, end, number, port);
    }

    /** Connects as {@link #connect}, if each end has a peer of its own: see {@link #accept} for one of several ends. */
    public void connectToOneOf(EventLoopGroup group, Duration bound, VerbsEnd end, int number) throws Exception {
        connect(group, bound, end, number, port(number));
    }

    private void connect(EventLoopGroup group, Duration bound, VerbsEnd end, int number, int peerPort)
            throws Exception {
        if (!isByDescriptors()) {
            device.of(new Bootstrap()).group(group).channel(RdmaMessageChannel.class)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis(bound)).handler(new Initializer(end))
                    .connect(address(peerPort)).sync();
            return;
        }
        byDescriptors(group, end, (own, descriptors, ignored) -> {
            descriptors.write(local(client(number)), own.descriptor()::write);
            Descriptor peer = descriptors.await(remote(server(number)), bound, Descriptor::read);
            own.connect(memoryDescriptor == null ? peer
                    : peer.with(descriptors.await(memoryDescriptor, bound, Introduction::readMemory)));
        }, number);
    }

    private static int millis(Duration bound) {
        return (int) Math.min(bound.toMillis(), Integer.MAX_VALUE);
    }

    private static String client(int number) {
        return "client-" + number;
    }

    private static String server(int number) {
        return "server-" + number;
    }

    private Path local(String name) {
        return localDescriptor != null ? localDescriptor : isByFiles() ? Path.of(LOCAL) : inFolder(name);
    }

    private Path remote(String name) {
        return remoteDescriptor != null ? remoteDescriptor : isByFiles() ? Path.of(REMOTE) : inFolder(name);
    }

    private Path inFolder(String name) {
        return folder.resolve(name + ".descriptor");
    }

    private void byDescriptors(EventLoopGroup group, VerbsEnd end, Meeting meeting, int number) throws Exception {
        if (isByFiles() && number > 0) {
            throw new IllegalArgumentException("-ld and -re are for one connection: use --descriptors");
        }
        DescriptorFiles descriptors = new DescriptorFiles();
        // Only the result shows that the peer has read the file.
        end.result().whenComplete((result, failure) -> descriptors.close());
        IntroductionHandler introduction = new IntroductionHandler(end);
        Bootstrap bootstrap = device.of(new Bootstrap()).group(group).channel(RdmaMessageChannel.class)
                .handler(new Initializer(end, introduction));
        // A device that was chosen needs no address.
        RdmaMessageChannel channel = (RdmaMessageChannel) (host == null && device.isNamed() ? bootstrap.register()
                : bootstrap.bind(address(0))).sync().channel();
        try {
            meeting.meet(new ManualEnd(channel, end, introduction), descriptors, number);
        } catch (Throwable t) {
            channel.close().sync();
            throw t;
        }
    }

    /** The order in which the ends write and read descriptors. */
    @FunctionalInterface
    private interface Meeting {
        void meet(ManualEnd end, DescriptorFiles descriptors, int number) throws Exception;
    }

    /** A channel that the connection manager does not connect. */
    private static final class ManualEnd {
        private final RdmaMessageChannel channel;
        private final IntroductionHandler introduction;
        private final Descriptor descriptor;

        ManualEnd(RdmaMessageChannel channel, VerbsEnd end, IntroductionHandler introduction) throws Exception {
            this.channel = channel;
            this.introduction = introduction;
            descriptor = new Descriptor(channel.exportEndpoint().get(), end.introduce(channel));
        }

        Descriptor descriptor() {
            return descriptor;
        }

        void connect(Descriptor peer) throws InterruptedException {
            introduction.handedOver(descriptor.introduction(), peer.introduction());
            channel.connect(peer.endpoint()).sync();
        }
    }

    private final class Initializer extends ChannelInitializer<RdmaMessageChannel> {
        private final VerbsEnd end;
        private final IntroductionHandler introduction;

        Initializer(VerbsEnd end) {
            this(end, new IntroductionHandler(end));
        }

        Initializer(VerbsEnd end, IntroductionHandler introduction) {
            this.end = end;
            this.introduction = introduction;
        }

        @Override
        protected void initChannel(RdmaMessageChannel channel) throws IOException {
            channel.config().setOption(RdmaChannelOption.MAX_INLINE_RECEIVE, inlineReceive);
            if (states) {
                channel.pipeline().addLast(new ConnectionLog());
            }
            end.configure(channel.config());
            channel.pipeline().addLast(introduction, end);
        }
    }

    /** Gives one accepted connection to each end, and refuses further ones. */
    private final class Acceptor extends ChannelInitializer<RdmaMessageChannel> {
        private final Queue<VerbsEnd> waiting;

        Acceptor(List<? extends VerbsEnd> ends) {
            waiting = new ConcurrentLinkedQueue<>(ends);
        }

        @Override
        protected void initChannel(RdmaMessageChannel channel) {
            VerbsEnd end = waiting.poll();
            channel.pipeline().addLast(end == null ? new Refusal() : new Initializer(end));
            if (waiting.isEmpty() && channel.parent() != null) {
                channel.parent().close();
            }
        }
    }

    private static final class Refusal extends ChannelInboundHandlerAdapter {
        private static final byte[] REASON = "no more peers are expected".getBytes(StandardCharsets.US_ASCII);

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof RdmaConnectionRequest) {
                ((RdmaConnectionRequest) event).reject(REASON);
            }
        }
    }
}
