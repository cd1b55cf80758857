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
package io.netty.channel.rdma;

import io.netty.bootstrap.AbstractBootstrap;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.DeviceAddresses;
import io.netty.channel.rdma.verbs.GidEntry;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Local addresses choose the device, and options the address. With several devices, as in the soft-RoCE guest, all of
 * them are used; with one, all of its addresses. Everything runs on one event loop.
 */
class DeviceSelectionTest {
    /** Address of TEST-NET-3 (RFC 5737), which nobody has. */
    private static final String NOBODYS_ADDRESS = "203.0.113.77";

    @RegisterExtension
    final LoopGroupExtension loops = new LoopGroupExtension(1);
    private Map<InetAddress, String> deviceByAddress;

    @BeforeEach
    void start() throws Exception {
        deviceByAddress = new LinkedHashMap<>();
        DeviceAddresses.find().byDevice().forEach((device, addresses) -> addresses.forEach(address -> {
            // On soft-RoCE a link-local address leads to others of the link only, never to this host.
            if (!address.isLinkLocalAddress()) {
                deviceByAddress.put(address, device);
            }
        }));
        assertThat(deviceByAddress).isNotEmpty();
    }

    /** Sends everything back. */
    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }
    }

    @Test
    void everyDeviceHasAnAddress() throws Exception {
        assertThat(deviceByAddress.values()).containsAll(Device.names());
        assertThat(DeviceAddresses.find().toString()).contains(Device.names());
    }

    @Test
    void thisHostIsReachedByItsLoopbackAddressIfADeviceHasIt() throws Exception {
        for (Class<? extends InetAddress> family : List.of(Inet4Address.class, Inet6Address.class)) {
            List<InetAddress> addresses = addresses(family);
            InetAddress own = DeviceAddresses.find().ofThisHost(family);
            if (addresses.isEmpty()) {
                assertThat(own).isNull();
            } else {
                assertThat(own).isIn(addresses);
                assertThat(own.isLoopbackAddress())
                        .isEqualTo(addresses.stream().anyMatch(InetAddress::isLoopbackAddress));
            }
        }
    }

    @Test
    void addressOfAListenerIsItsDevice() throws Exception {
        for (InetAddress address : deviceByAddress.keySet()) {
            RdmaServerSocketChannel listener = listen(new InetSocketAddress(address, 0), false);
            assertThat(listener.localAddress().getAddress()).isEqualTo(address);
            Client client = connect(new InetSocketAddress(address, listener.localAddress().getPort()), null);
            assertEcho(client);
            assertThat(client.channel.remoteAddress()).isEqualTo(listener.localAddress());
            sync(client.channel.close());
            sync(listener.close());
        }
    }

    /** As with TCP on Linux, where that is the loopback address. */
    @Test
    void peerOfAConnectToTheWildcardIsAnAddressOfThisHost() throws Exception {
        RdmaServerSocketChannel listener = listen(wildcard("0.0.0.0", 0), false);
        int port = listener.localAddress().getPort();
        Client client = connect(wildcard("0.0.0.0", port), null);
        assertEcho(client);
        assertThat(client.channel.remoteAddress().getAddress()).isIn(deviceByAddress.keySet());
        assertThat(client.channel.remoteAddress().getPort()).isEqualTo(port);
        sync(client.channel.close());
        sync(listener.close());
    }

    @Test
    void wildcardServesBothFamiliesOnEveryDeviceAtOnce() throws Exception {
        assumeTrue(!addresses(Inet6Address.class).isEmpty(), "no device has an IPv6 address");
        for (InetSocketAddress address : List.of(new InetSocketAddress(0), wildcard("0.0.0.0", 0), wildcard("::", 0))) {
            RdmaServerSocketChannel listener = listen(address, false);
            assertThat(listener.localAddress().getAddress()).isInstanceOf(Inet6Address.class);
            assertServesAllAtOnce(listener, new ArrayList<>(deviceByAddress.keySet()));
        }
    }

    @Test
    void wildcardOfIpv4AloneServesItOnEveryDeviceAtOnce() throws Exception {
        RdmaServerSocketChannel listener = listen(wildcard("0.0.0.0", 0), true);
        for (InetAddress six : addresses(Inet6Address.class)) {
            assertThat(failure(new InetSocketAddress(six, listener.localAddress().getPort()), null))
                    .isInstanceOf(ConnectException.class).hasMessageContaining("refused");
        }
        assertServesAllAtOnce(listener, addresses(Inet4Address.class));
    }

    @Test
    void localAddressOfAWildcardCanBeConnectedTo() throws Exception {
        RdmaServerSocketChannel listener = listen(new InetSocketAddress(0), false);
        Client client = connect(listener.localAddress(), null);
        assertEcho(client);
        sync(client.channel.close());
        sync(listener.close());
    }

    @Test
    void wildcardsOfBothFamiliesShareAPortIfEachKeepsToItself() throws Exception {
        assumeTrue(!addresses(Inet6Address.class).isEmpty(), "no device has an IPv6 address");
        RdmaServerSocketChannel six = listen(wildcard("::", 0), true);
        int port = six.localAddress().getPort();
        InetAddress four = addresses(Inet4Address.class).get(0);
        assertThat(failure(new InetSocketAddress(four, port), null)).isInstanceOf(ConnectException.class)
                .hasMessageContaining("refused");
        RdmaServerSocketChannel listener = listen(wildcard("0.0.0.0", port), true);
        Client client = connect(new InetSocketAddress(four, port), null);
        assertEcho(client);
        sync(client.channel.close());
        sync(listener.close());
        assertServesAllAtOnce(six, addresses(Inet6Address.class));
    }

    @Test
    void wildcardAndAddressOfOnePortAreInConflictWithTheReason() throws Exception {
        RdmaServerSocketChannel listener = listen(wildcard("0.0.0.0", 0), false);
        InetSocketAddress same = new InetSocketAddress(addresses(Inet4Address.class).get(0),
                listener.localAddress().getPort());
        assertThat(bind(same, false).cause()).isInstanceOf(BindException.class)
                .hasMessageContaining("in use together with the wildcard").hasMessageContaining(same.toString());
        sync(listener.close());
    }

    @Test
    void clientLeavesFromTheAddressItIsBoundTo() throws Exception {
        for (Class<? extends InetAddress> family : List.of(Inet4Address.class, Inet6Address.class)) {
            for (InetAddress from : addresses(family)) {
                for (InetAddress to : addresses(family)) {
                    assertLeavesFrom(from, to);
                }
            }
        }
    }

    private void assertLeavesFrom(InetAddress from, InetAddress to) throws Exception {
        RdmaServerSocketChannel listener = listen(new InetSocketAddress(to, 0), false);
        Client client = connect(listener.localAddress(), new InetSocketAddress(from, 0));
        assertThat(client.channel.localAddress().getAddress()).isEqualTo(from);
        assertThat(device(client)).isEqualTo(deviceByAddress.get(from));
        assertEcho(client);

        ConnectedPair.Recorder recorder = new ConnectedPair.Recorder();
        RdmaSocketChannel bound = (RdmaSocketChannel) bootstrap(recorder).bind(new InetSocketAddress(from, 0)).sync()
                .channel();
        InetSocketAddress local = bound.localAddress();
        assertThat(local.getPort()).isPositive();
        sync(bound.connect(listener.localAddress()));
        assertThat(bound.localAddress()).isEqualTo(local);
        assertEcho(new Client(bound, recorder));
        sync(client.channel.close());
        sync(bound.close());
        sync(listener.close());
    }

    @Test
    void addressThatNobodyHasIsAnErrorThatNamesTheDevicesAndTheirs() throws Exception {
        InetSocketAddress nobodys = new InetSocketAddress(NOBODYS_ADDRESS, 7);
        Throwable unbound = bind(nobodys, false).cause();
        assertThat(unbound).isInstanceOf(BindException.class)
                .hasMessageContaining("no network interface of this host has this address");
        Throwable unreachable = failure(nobodys, null);
        assertThat(unreachable).isInstanceOf(NoRouteToHostException.class);
        InetAddress own = deviceByAddress.keySet().iterator().next();
        Throwable badSource = failure(new InetSocketAddress(own, 7), nobodys);
        assertThat(badSource).isInstanceOf(SocketException.class).hasCauseInstanceOf(BindException.class);
        for (Throwable cause : List.of(unbound, unreachable, badSource)) {
            assertThat(cause).hasMessageContaining(NOBODYS_ADDRESS + ":7");
            for (String device : Device.names()) {
                assertThat(cause).hasMessageContaining(device + " has ");
            }
            assertThat(cause).hasMessageContaining(DeviceAddresses.find().toString());
        }
    }

    /** The kernel would listen on all devices for a listener of 127.0.0.1. */
    @Test
    void addressOfAnInterfaceWithoutDeviceIsRefused() throws Exception {
        List<InetAddress> others = new ArrayList<>();
        List<InetAddress> ofDevices = new ArrayList<>();
        DeviceAddresses.find().byDevice().values().forEach(ofDevices::addAll);
        for (NetworkInterface netInterface : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            others.addAll(Collections.list(netInterface.getInetAddresses()));
        }
        others.removeAll(ofDevices);
        assumeTrue(!others.isEmpty(), "each address of this host is one of a device");
        for (InetAddress other : others) {
            InetSocketAddress address = new InetSocketAddress(other, 0);
            assertThat(bind(address, false).cause()).isInstanceOf(BindException.class)
                    .hasMessageContaining("no RDMA device has this address").hasMessageContaining(" has ");
            assertThat(failure(new InetSocketAddress(other, 7), null)).isInstanceOf(NoRouteToHostException.class)
                    .hasMessageContaining(" has ");
        }
    }

    @Test
    void deviceThatIsChosenStandsForTheWildcardOfAListener() throws Exception {
        for (String name : Device.names()) {
            ServerBootstrap bootstrap = new ServerBootstrap().group(loops.group())
                    .channel(RdmaServerSocketChannel.class).option(RdmaChannelOption.DEVICE, name)
                    .childHandler(new Echo());
            RdmaServerSocketChannel listener =
                    (RdmaServerSocketChannel) sync(bootstrap.bind(new InetSocketAddress(0))).channel();
            assertThat(DeviceAddresses.find().byDevice().get(name)).contains(listener.localAddress().getAddress());
            assertThat(listener.config().getOption(RdmaChannelOption.DEVICE)).isEqualTo(name);
            Client client = connect(listener.localAddress(), null, name);
            assertThat(device(client)).isEqualTo(name);
            assertThat(client.channel.localAddress().getAddress()).as("the nearest")
                    .isEqualTo(listener.localAddress().getAddress());
            assertEcho(client);
            sync(client.channel.close());
            sync(listener.close());
        }
    }

    @Test
    void addressThatIsNotOfTheChosenDeviceIsRefused() throws Exception {
        RdmaServerSocketChannel listener = listen(TestAddress.anyPort(), false);
        for (InetSocketAddress local : new InetSocketAddress[] { null, TestAddress.anyPort() }) {
            for (Map.Entry<ChannelOption<?>, Object> option : Map.<ChannelOption<?>, Object>of(
                    RdmaChannelOption.DEVICE, "nobody0", RdmaChannelOption.DEVICE_PORT, 99).entrySet()) {
                assertThat(TestTimeouts.await(set(bootstrap(new ConnectedPair.Recorder()), option)
                        .connect(listener.localAddress(), local)).cause())
                        .hasCauseInstanceOf(NoRdmaDeviceException.class)
                        .hasMessageContaining(option.getValue().toString());
                assertThat(TestTimeouts.await(set(new ServerBootstrap().group(loops.group())
                        .channel(RdmaServerSocketChannel.class).childHandler(new Echo()), option)
                        .bind(local == null ? new InetSocketAddress(0) : local)).cause())
                        .isInstanceOf(NoRdmaDeviceException.class).hasMessageContaining(option.getValue().toString());
            }
        }
        for (Map.Entry<String, List<InetAddress>> other : DeviceAddresses.find().byDevice().entrySet()) {
            if (!other.getValue().contains(listener.localAddress().getAddress())) {
                assertThat(TestTimeouts.await(bootstrap(new ConnectedPair.Recorder())
                        .option(RdmaChannelOption.DEVICE, other.getKey())
                        .connect(listener.localAddress(), TestAddress.anyPort())).cause())
                        .hasCauseInstanceOf(NoRdmaDeviceException.class)
                        .hasMessageContaining("not of " + other.getKey());
            }
        }
        sync(listener.close());
    }

    @SuppressWarnings("unchecked")
    private static <B extends AbstractBootstrap<B, ?>> B set(B bootstrap, Map.Entry<ChannelOption<?>, Object> option) {
        return bootstrap.option((ChannelOption<Object>) option.getKey(), option.getValue());
    }

    @Test
    void gidThatIsChosenIsTheLocalAddressWithRoce() throws Exception {
        int gids = 0;
        int checked = 0;
        for (Map.Entry<InetAddress, String> entry : deviceByAddress.entrySet()) {
            try (Device device = Device.open(entry.getValue())) {
                boolean ethernet = device.portAttributes(1).isEthernet();
                for (GidEntry gid : device.gids(1)) {
                    gids++;
                    if (ethernet && !gid.address().equals(entry.getKey())) {
                        continue;
                    }
                    ServerBootstrap bootstrap = new ServerBootstrap().group(loops.group())
                            .channel(RdmaServerSocketChannel.class).childHandler(new Echo())
                            .option(RdmaChannelOption.DEVICE, device.name()).option(RdmaChannelOption.DEVICE_PORT, 1)
                            .option(RdmaChannelOption.GID_INDEX, gid.index());
                    RdmaServerSocketChannel listener =
                            (RdmaServerSocketChannel) sync(bootstrap.bind(new InetSocketAddress(0))).channel();
                    if (ethernet) {
                        assertThat(listener.localAddress().getAddress()).isEqualTo(entry.getKey());
                    }
                    sync(listener.close());
                    checked++;
                }
            }
        }
        if (gids > 0) {
            assertThat(checked).isPositive();
        }
    }

    private record Client(RdmaSocketChannel channel, ConnectedPair.Recorder recorder) { }

    private void assertServesAllAtOnce(RdmaServerSocketChannel listener, List<InetAddress> addresses)
            throws Exception {
        List<Client> clients = new ArrayList<>();
        for (InetAddress address : addresses) {
            clients.add(connect(new InetSocketAddress(address, listener.localAddress().getPort()), null));
        }
        for (int round = 0; round < 3; round++) {
            for (Client client : clients) {
                client.channel.writeAndFlush(Unpooled.copyInt(round));
            }
            for (Client client : clients) {
                assertThat(client.recorder.read(4)).containsExactly(0, 0, 0, round);
            }
        }
        for (Client client : clients) {
            sync(client.channel.close());
        }
        sync(listener.close());
    }

    private List<InetAddress> addresses(Class<? extends InetAddress> family) {
        List<InetAddress> addresses = new ArrayList<>(deviceByAddress.keySet());
        addresses.removeIf(address -> !family.isInstance(address));
        return addresses;
    }

    private static InetSocketAddress wildcard(String text, int port) {
        return new InetSocketAddress(text, port);
    }

    private RdmaServerSocketChannel listen(InetSocketAddress address, boolean ipv6Only) throws Exception {
        ChannelFuture future = bind(address, ipv6Only);
        assertThat(future.cause()).isNull();
        return (RdmaServerSocketChannel) future.channel();
    }

    private ChannelFuture bind(InetSocketAddress address, boolean ipv6Only) throws InterruptedException {
        return TestTimeouts.await(new ServerBootstrap().group(loops.group()).channel(RdmaServerSocketChannel.class)
                .option(RdmaChannelOption.IPV6_ONLY, ipv6Only).childHandler(new Echo()).bind(address));
    }

    private Bootstrap bootstrap(ChannelHandler handler) {
        return new Bootstrap().group(loops.group()).channel(RdmaSocketChannel.class).handler(handler);
    }

    private Client connect(InetSocketAddress remote, InetSocketAddress local) throws Exception {
        return connect(remote, local, "");
    }

    private Client connect(InetSocketAddress remote, InetSocketAddress local, String deviceName) throws Exception {
        ConnectedPair.Recorder recorder = new ConnectedPair.Recorder();
        ChannelFuture future =
                bootstrap(recorder).option(RdmaChannelOption.DEVICE, deviceName).connect(remote, local);
        sync(future);
        return new Client((RdmaSocketChannel) future.channel(), recorder);
    }

    private Throwable failure(InetSocketAddress remote, InetSocketAddress local) throws Exception {
        return TestTimeouts.await(bootstrap(new ConnectedPair.Recorder()).connect(remote, local)).cause();
    }

    private static String device(Client client) throws Exception {
        return client.channel.info().get(TestTimeouts.SECONDS, TimeUnit.SECONDS).deviceName();
    }

    private void assertEcho(Client client) throws Exception {
        client.channel.writeAndFlush(Unpooled.copyInt(4711));
        assertThat(client.recorder.read(4)).containsExactly(Unpooled.copyInt(4711).array());
    }
}
