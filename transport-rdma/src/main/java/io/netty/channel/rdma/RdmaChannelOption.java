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

import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.VerbsProvider;

import java.util.Set;

/**
 * Options of RDMA channels beyond those of {@link ChannelOption}. Unless stated otherwise, they are read when the
 * connection is made: set them on the bootstrap ({@code option} for a client, {@code childOption} for a server).
 *
 * <p>A value outside of the range given here fails at once with an {@link IllegalArgumentException}. If the application
 * sets a value that the device of the connection does not support, the connection fails with an {@link
 * IllegalArgumentException} that names the device and its limit. A default is lowered to that limit instead. See {@code
 * docs/options.md} for all options by their names in verbs.
 */
public final class RdmaChannelOption<T> extends ChannelOption<T> {
    /**
     * The most send work requests that may be outstanding ({@code ibv_qp_cap.max_send_wr}), 16 to 32768. Default 256.
     */
    public static final ChannelOption<Integer> SEND_QUEUE_DEPTH = option("SEND_QUEUE_DEPTH");

    /**
     * The number of receives kept posted ({@code ibv_qp_cap.max_recv_wr}), and so the number of messages that the peer
     * may have under way, 16 to 32768. Default 256; of message channels 64, of datagram channels 128.
     */
    public static final ChannelOption<Integer> RECEIVE_QUEUE_DEPTH = option("RECEIVE_QUEUE_DEPTH");

    /**
     * The most bytes of a message that are put into the work request itself instead of being read by the device ({@code
     * ibv_qp_cap.max_inline_data}), 0 to 1024. By default byte streams ask the device for 64 and use all that it
     * grants, which is 256 with the embedded provider. If the option is set, they use no more than its value. The
     * default of other channels is 64. The promise of such a write is done when the work request is posted, as with a
     * socket. If {@link io.netty.channel.ChannelOption#SO_LINGER} is 0, it is done when the peer's device has the
     * bytes.
     */
    public static final ChannelOption<Integer> MAX_INLINE = option("MAX_INLINE");

    /**
     * Pieces of registered memory up to this many bytes are gathered by copying them, larger ones are sent in place,
     * 0 to 65536. Default 512: below that, a copy costs less than another scatter-gather element and buffer in flight.
     */
    public static final ChannelOption<Integer> SEND_COPY_THRESHOLD = option("SEND_COPY_THRESHOLD");

    /**
     * Arrivals of up to this many bytes are copied into a buffer of the channel's allocator, larger ones are
     * delivered as slices of the receive buffer, 0 to 65536. Default 1024: a slice holds a part of the receive buffer
     * back from the peer until it is released.
     */
    public static final ChannelOption<Integer> RECEIVE_COPY_THRESHOLD = option("RECEIVE_COPY_THRESHOLD");

    /**
     * The number of times that a device sends a message again that is not acknowledged, before it gives the connection
     * up ({@code rdma_conn_param.retry_count}), 0 to 7. Default 6, since soft-RoCE takes 7 for "for ever"
     * ({@code rxe_completer} of the kernel) and then never reports a peer that is gone. The client's value counts for
     * both directions: it travels with the connect request.
     */
    public static final ChannelOption<Integer> RETRY_COUNT = option("RETRY_COUNT");

    /**
     * The number of times that the <em>peer's</em> device tries again when no receive is posted here ({@code
     * rdma_conn_param.rnr_retry_count}), 0 to 6, or 7 for ever. Default 7. The stream protocol needs 7: its control
     * messages may wait for a receive for as long as this event loop is busy. With less, a long pause of this process
     * ends the connection. On a message channel that is connected without the connection manager, it counts the tries
     * of <em>this</em> end.
     */
    public static final ChannelOption<Integer> RNR_RETRY_COUNT = option("RNR_RETRY_COUNT");

    /**
     * The time that the device waits for an acknowledgement before it sends again, as the exponent that verbs use
     * ({@code RDMA_OPTION_ID_ACK_TIMEOUT}, {@code ibv_qp_attr.timeout}): 4.096 microseconds times 2 to this power, 1 to
     * 31; for example 14 is 67 milliseconds, 19 is 2.1 seconds. With 0, the default, the connection manager chooses the
     * time (soft-RoCE gets 19). A message channel that is connected without it gets 18. There is no value for never
     * sending again, which 0 means in {@code ibv_qp_attr}. A device may round it up, and waits for up to four times as
     * long (InfiniBand Architecture Specification, volume 1, 9.7.6.1.3). A peer that does not answer is reported after
     * about {@link #RETRY_COUNT} + 1 times that. Set it at both ends: each counts for what that end sends.
     */
    public static final ChannelOption<Integer> ACK_TIMEOUT = option("ACK_TIMEOUT");

    /**
     * The least time that the peer's device waits before it tries again when no receive is posted here, as the code
     * that verbs use ({@code ibv_qp_attr.min_rnr_timer}, table in ibv_modify_qp(3)): 1 (0.01 milliseconds) to 31
     * (491.52 milliseconds), for example 12 is 0.64 milliseconds. 0, the default, is what the connection manager
     * chooses, which is 655.36 milliseconds. The default of message channels is 12.
     */
    public static final ChannelOption<Integer> MIN_RNR_TIMER = option("MIN_RNR_TIMER");

    /**
     * The most milliseconds for finding the peer's address, and again for finding the route to it ({@code timeout_ms}
     * of rdma_resolve_addr(3) and rdma_resolve_route(3)), 1 to 3600000. Default 60000. {@link
     * ChannelOption#CONNECT_TIMEOUT_MILLIS} bounds both together, so this option is for a connect without that timeout.
     */
    public static final ChannelOption<Integer> RESOLVE_TIMEOUT_MILLIS = option("RESOLVE_TIMEOUT_MILLIS");

    /**
     * The name of the device that a channel or a listener uses, one of {@link
     * io.netty.channel.rdma.verbs.Device#names()}. Default "": the device of the local address, or the device that
     * leads to the peer. If the local address is the wildcard or not given, an address of the device is taken, of
     * several the nearest to the peer's. A local address that is given has to be one of the device. A connection
     * between two {@code RdmaEndpoint}s then needs no address. Set it before the channel is bound or connected. It has
     * no effect on an accepted channel.
     */
    public static final ChannelOption<String> DEVICE = option("DEVICE");

    /**
     * The providers of verbs by which a channel may connect, or a listener be reached: {@link VerbsProvider#EMBEDDED},
     * through shared memory and by processes of this host only; {@link VerbsProvider#IBVERBS}, through an RDMA device.
     * Default: both. A listener uses each of these that has its address. A connect uses shared memory if the address is
     * of this host and somebody listens there, and else the device. If the process uses none of them ({@link
     * io.netty.channel.rdma.verbs.VerbsApi#usable()}), the bind or connect fails. The set must not be empty. Set it
     * before the channel is bound or connected.
     */
    public static final ChannelOption<Set<VerbsProvider>> PROVIDERS = option("PROVIDERS");

    /**
     * The port of the {@link #DEVICE}, or of the device of the address, from 1 to 255. Default 0: the port of the
     * address, or without an address the first active port.
     */
    public static final ChannelOption<Integer> DEVICE_PORT = option("DEVICE_PORT");

    /**
     * The index of the local address in the port's table of global identifiers, 0 to 255; {@link RdmaDiagnostics}
     * prints the table. Default -1: the entry of the address, of RoCE's two versions the second one. With RoCE a
     * channel binds to the address of the entry, and the connection manager chooses the version ({@code
     * default_roce_mode} of configfs). Datagrams and connections between two {@code RdmaEndpoint}s use the entry
     * itself. With InfiniBand they are sent with the global header that routers between subnets need.
     */
    public static final ChannelOption<Integer> GID_INDEX = option("GID_INDEX");

    /**
     * Milliseconds without a sign of life of the peer, 10 to 86400000. After that, with {@link
     * ChannelOption#SO_KEEPALIVE}, an empty RDMA write tests whether the peer's device still answers. Default 60000:
     * the 2 hours of TCP (RFC 1122, 4.2.3.6) would be long, because a connection pins a receive buffer of registered
     * memory. May be changed at any time.
     *
     * <p>As with TCP, the peer's host answers, not its process. With the embedded provider the process is the device,
     * so a stopped process does not answer.
     */
    public static final ChannelOption<Integer> KEEP_ALIVE_IDLE_MILLIS = option("KEEP_ALIVE_IDLE_MILLIS");

    /**
     * Milliseconds, 10 to 86400000. The peer has {@link #KEEP_ALIVE_COUNT} times this to answer the test of {@link
     * ChannelOption#SO_KEEPALIVE}. Then the connection ends with an {@code IOException}: "Connection timed out".
     * Default 10000: three times that is more than devices commonly retry for, and the device's own report is more
     * exact. May be changed at any time.
     */
    public static final ChannelOption<Integer> KEEP_ALIVE_INTERVAL_MILLIS = option("KEEP_ALIVE_INTERVAL_MILLIS");

    /**
     * The factor of {@link #KEEP_ALIVE_INTERVAL_MILLIS}, 1 to 127, default 3. The channel sends one test, and the
     * device repeats it as often as it is configured to. May be changed at any time.
     */
    public static final ChannelOption<Integer> KEEP_ALIVE_COUNT = option("KEEP_ALIVE_COUNT");

    /**
     * Maximum time in milliseconds, 0 to 86400000, for which flushed bytes wait for a peer that receives none of them.
     * Such a peer does not acknowledge, or has no room for more. Then the connection ends with an {@code IOException}:
     * "Connection timed out". If the bytes were copied into work requests ({@link #MAX_INLINE}), it may take half of
     * the time longer. Default 0: no limit. The device may still give up by itself ({@link #RETRY_COUNT}), but never
     * while the peer's device answers. The counterpart of {@code TCP_USER_TIMEOUT}, tcp(7). May be changed at any time.
     */
    public static final ChannelOption<Integer> USER_TIMEOUT_MILLIS = option("USER_TIMEOUT_MILLIS");

    /**
     * True if a listener at a wildcard address ({@code ::} of IPv6, {@code 0.0.0.0} of IPv4) takes only connections of
     * that family ({@code RDMA_OPTION_ID_AFONLY}), so that the port can be bound for each. Default false: either
     * address is the wildcard of both families, as with a socket of Netty.
     */
    public static final ChannelOption<Boolean> IPV6_ONLY = option("IPV6_ONLY");

    /**
     * Milliseconds, 10 to 86400000, after which the receive buffer is made smaller if no more bytes arrived in this
     * time than a smaller one has room for. Default 5000. {@link ChannelOption#SO_RCVBUF} is its largest size.
     */
    public static final ChannelOption<Integer> RECEIVE_BUFFER_IDLE_MILLIS = option("RECEIVE_BUFFER_IDLE_MILLIS");

    // ---- of message channels

    /**
     * Bytes of each posted receive of a message channel, and so the longest message that a peer can send, 0 to 4194304.
     * Default 4096. {@link #RECEIVE_QUEUE_DEPTH} times this is registered memory of the connection.
     */
    public static final ChannelOption<Integer> RECEIVE_BUFFER_SIZE = option("RECEIVE_BUFFER_SIZE");

    /**
     * The most bytes of a message that a message channel receives, or of the answer to a read or an atomic operation,
     * that may travel in its completion, 0 to 1024. Default 0. The bytes are copied to their memory when the loop
     * polls, which saves a short message one transfer over the bus. The device may grant less ({@link
     * QueuePairInfo#maxInlineReceive()}). Most devices grant 0, and all do with {@link #SHARED_RECEIVE_QUEUE}. Nothing
     * else depends on the option.
     */
    public static final ChannelOption<Integer> MAX_INLINE_RECEIVE = option("MAX_INLINE_RECEIVE");

    /**
     * True if a message channel takes its receives from a shared receive queue ({@code ibv_qp_init_attr.srq}), which
     * all channels with this option, of the same event loop, device and {@link #RECEIVE_BUFFER_SIZE}, have in common.
     * Default false. It is for many connections of which few are busy at a time, because the memory for receives does
     * not grow with their number. {@link RdmaIoHandlerConfig#setSharedReceiveQueueDepth} sets the number of receives.
     *
     * <p>A shared queue can't hold a single peer back. While a channel does not read, its messages wait in this
     * process: up to {@link #RECEIVE_QUEUE_DEPTH} in the registered memory where they arrived, further ones as copies
     * in ordinary memory, up to {@link #MAX_UNREAD_MESSAGES}.
     */
    public static final ChannelOption<Boolean> SHARED_RECEIVE_QUEUE = option("SHARED_RECEIVE_QUEUE");

    /**
     * The most messages that may wait for a message channel with {@link #SHARED_RECEIVE_QUEUE} that does not read, 16
     * to 1048576. Default 1024. One more ends the connection with an {@code IOException}.
     */
    public static final ChannelOption<Integer> MAX_UNREAD_MESSAGES = option("MAX_UNREAD_MESSAGES");

    /**
     * True if the application posts the receives of a message channel itself, into memory that it has registered: see
     * {@code RdmaMessageChannel.postReceive}. Default false. The channel then posts none, so the peer waits until there
     * is one. Not together with {@link #SHARED_RECEIVE_QUEUE}.
     */
    public static final ChannelOption<Boolean> MANUAL_RECEIVES = option("MANUAL_RECEIVES");

    /**
     * The most slices of memory of one receive of a message channel with {@link #MANUAL_RECEIVES}
     * ({@code ibv_qp_cap.max_recv_sge}), 1 to 256. Default 16, or the device's {@code max_sge} if that is less.
     */
    public static final ChannelOption<Integer> MAX_RECEIVE_SGES = option("MAX_RECEIVE_SGES");

    /**
     * The most pieces of a composite buffer that one operation of a message or datagram channel uses in place ({@code
     * ibv_qp_cap.max_send_sge}), 1 to 256. Default 16, or the device's {@code max_sge} if that is less. A message of
     * more pieces is copied. A message of more slices of registered memory fails.
     */
    public static final ChannelOption<Integer> MAX_SEND_SGES = option("MAX_SEND_SGES");

    /**
     * The most RDMA reads and atomics of a message channel that are under way to the peer ({@code
     * rdma_conn_param.initiator_depth}), 0 to 255. Default 16, or the device's {@code max_qp_init_rd_atom} if that is
     * less. The peer's {@link #RESPONDER_RESOURCES} limit them, too. The device holds further ones back.
     */
    public static final ChannelOption<Integer> INITIATOR_DEPTH = option("INITIATOR_DEPTH");

    /**
     * The most RDMA reads and atomics of the peer of a message channel that are under way here
     * ({@code rdma_conn_param.responder_resources}), 0 to 255. Default 16, or the device's {@code max_qp_rd_atom} if
     * that is less.
     */
    public static final ChannelOption<Integer> RESPONDER_RESOURCES = option("RESPONDER_RESOURCES");

    /**
     * The operations on registered memory that the peer of a message channel may do through this connection ({@code
     * ibv_qp_attr.qp_access_flags}), of {@link RdmaPermission#REMOTE_READ}, {@link RdmaPermission#REMOTE_WRITE} and
     * {@link RdmaPermission#REMOTE_ATOMIC}. The memory must allow the operation as well.
     *
     * <p>Default all of them, because they open nothing: memory has remote permissions only if the application has
     * given them to it, and the peer needs its key. Fewer permissions protect from peers that could guess keys of
     * memory that is meant for others: docs/security.md.
     */
    public static final ChannelOption<Set<RdmaPermission>> REMOTE_PERMISSIONS = option("REMOTE_PERMISSIONS");

    /**
     * Bytes of a message channel for the peer, in the connect request; at most 56. They arrive padded with zeros.
     * Default none. Copied.
     */
    public static final ChannelOption<byte[]> CONNECT_DATA = option("CONNECT_DATA");

    /**
     * The service level of what this end sends, for message channels between two {@code RdmaEndpoint}s ({@code
     * ibv_ah_attr.sl}), 0 to 15. Default 0. With the connection manager, the subnet's administrator decides.
     */
    public static final ChannelOption<Integer> SERVICE_LEVEL = option("SERVICE_LEVEL");

    /**
     * The most bytes of a packet's payload, for message channels between two {@code RdmaEndpoint}s ({@code
     * ibv_qp_attr.path_mtu}): 256, 512, 1024, 2048 or 4096, or 0, the default, for what the port has. The least of both
     * ends' values, and of their ports' MTUs, counts. With the connection manager, the path decides.
     */
    public static final ChannelOption<Integer> PATH_MTU = option("PATH_MTU");

    /**
     * The use of a global header, which routers need, for message channels between two {@code RdmaEndpoint}s ({@code
     * ibv_ah_attr.is_global}). Default false. RoCE always has it, and so has InfiniBand with {@link #GID_INDEX}. Each
     * end sets it for the packets that it sends.
     */
    public static final ChannelOption<Boolean> GLOBAL_HEADER = option("GLOBAL_HEADER");

    // ---- of datagram channels

    /**
     * Milliseconds that a datagram channel remembers which queue pair receives the datagrams for an IP address, 1 to
     * 86400000. Default 30000. After that, the next datagram makes the channel ask again, and goes to the old queue
     * pair. So a peer that begins anew on the same port loses datagrams for up to this time. May be changed at any
     * time.
     */
    public static final ChannelOption<Integer> ADDRESS_TTL_MILLIS = option("ADDRESS_TTL_MILLIS");

    private static <T> ChannelOption<T> option(String name) {
        return valueOf(RdmaChannelOption.class, name);
    }

    @SuppressWarnings({ "deprecation", "unused" }) // There is no other constructor, and no instance is made with it.
    private RdmaChannelOption() {
        super(null);
    }
}
