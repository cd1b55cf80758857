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
/**
 * Channels of messages: every verb of a reliable connection as a message of the pipeline, and datagrams. For whoever
 * wants RDMA itself; {@link io.netty.channel.rdma.RdmaSocketChannel} hides it.
 *
 * <pre>
 *   new Bootstrap().group(group).channel(RdmaMessageChannel.class)...connect(address)
 *   new ServerBootstrap().group(group).channel(RdmaServerMessageChannel.class)...bind(address)
 *
 *   channel.write(new RdmaWrite(bytes, remoteMemory, 0).unsignalled());
 *   channel.writeAndFlush(new RdmaSendImm(Unpooled.EMPTY_BUFFER, 42)).addListener(...)
 *
 *   new Bootstrap().group(group).channel(RdmaDatagramChannel.class)...bind(address)
 *
 *   channel.writeAndFlush(new RdmaDatagram(bytes, new InetSocketAddress(host, port)))
 * </pre>
 * First connections; {@linkplain io.netty.channel.rdma.message.RdmaDatagramChannel datagrams} are below.
 *
 * <h2>Operations</h2>
 * <table>
 * <caption>What is written, and what the peer notices</caption>
 * <tr><th>message</th><th>verb</th><th>when the promise is done</th><th>the peer's pipeline</th></tr>
 * <tr><td>{@link io.netty.channel.rdma.message.RdmaSend}, {@code ByteBuf}</td><td>SEND</td><td>the bytes are in the
 *     peer's receive buffer</td><td>{@link io.netty.channel.rdma.message.RdmaReceive} with them</td></tr>
 * <tr><td>{@link io.netty.channel.rdma.message.RdmaSendImm}</td><td>SEND WITH IMMEDIATE</td><td>as above</td><td>as
 *     above, and 32 bits</td></tr>
 * <tr><td>{@link io.netty.channel.rdma.message.RdmaSendInv}</td><td>SEND WITH INVALIDATE</td><td>as above</td><td>as
 *     above, and its {@link io.netty.channel.rdma.message.RdmaMemoryWindow} is revoked</td></tr>
 * <tr><td>{@link io.netty.channel.rdma.message.RdmaWrite}</td><td>RDMA WRITE</td><td>the peer's device has the
 *     bytes</td><td>nothing</td></tr>
 * <tr><td>{@link io.netty.channel.rdma.message.RdmaWriteImm}</td><td>RDMA WRITE WITH IMMEDIATE</td><td>as above</td>
 *     <td>{@code RdmaReceive} with the length and 32 bits</td></tr>
 * <tr><td>{@link io.netty.channel.rdma.message.RdmaRead}</td><td>RDMA READ</td><td>the buffer is filled</td>
 *     <td>nothing</td></tr>
 * <tr><td>{@link io.netty.channel.rdma.message.RdmaCompareAndSwap}, {@link
 *     io.netty.channel.rdma.message.RdmaFetchAndAdd}</td><td>atomics on 8 aligned bytes</td><td>it has happened, and
 *     {@code oldValue()} tells what was there, or it is in a buffer or in registered memory</td><td>nothing</td></tr>
 * </table>
 * {@link io.netty.channel.rdma.message.RdmaSyncEvent} makes a counter of these, for which its owner can wait. Not every
 * device has atomics, and iWARP has no immediate data, reads only into memory with {@code REMOTE_WRITE}, and ends a
 * connection whose peer has no receive for a message: {@link io.netty.channel.rdma.message.RdmaCapabilities} tells what
 * there is, and the greatest values of the options, too. What there is not is refused, and the connection goes on.
 *
 * <p>Each is one work request; a flush posts all that were written with one call. Bytes in registered memory go out in
 * place: memory of the channel's allocator ({@code ctx.alloc()}), received buffers, and {@link
 * io.netty.channel.rdma.RegisteredMemory}. Up to {@code MAX_INLINE} bytes travel inside of the work request. A
 * composite buffer becomes a list of elements, one a component, up to {@code MAX_SEND_SGES}. Everything else is copied
 * once: other memory, and the whole message if it has more pieces than that. That is possible for up to 4 MiB in an
 * operation; beyond, it fails and says so. Any operation may be without bytes. {@link
 * io.netty.channel.rdma.message.RdmaMessageMetrics} counts operations, and which way their bytes went.
 *
 * <p>Memory of a peer device, such as a graphics processor, has no buffer, as the processor may not be able to access
 * it: {@link io.netty.channel.rdma.RegisteredMemory#ofDmabuf} registers a dma-buf. It is exported like other memory,
 * and a {@linkplain io.netty.channel.rdma.RegisteredMemory#slice slice} of it, or of any registered memory, takes the
 * place of the buffer in a send, write or read; or a list of slices, as many as {@code MAX_SEND_SGES}.
 *
 * <p>Messages arrive in buffers that the channel posts, up to {@code RECEIVE_BUFFER_SIZE}. With {@link
 * io.netty.channel.rdma.RdmaChannelOption#MANUAL_RECEIVES} the application posts the receives, lists of slices of its
 * own memory, which may be a peer device's, or buffers. A message then goes there and nowhere else: see {@link
 * io.netty.channel.rdma.message.RdmaMessageChannel#postReceive(java.util.List)}.
 *
 * <p>A message that is longer than the peer's receive ends the connection, as verbs demand. With {@link
 * io.netty.channel.rdma.message.RdmaRendezvousHandler} at both ends messages have any length.
 *
 * <p>An operation can be {@linkplain io.netty.channel.rdma.message.RdmaOperation written again} with another offset,
 * length or value. Without bytes it needs no remote memory: a write or read with {@code null} has no effect but to find
 * out whether the peer's device answers.
 *
 * <p>Operations that the send queue has no room for wait, and the channel is not writable meanwhile, whatever their
 * sizes are; nor is it above the usual water mark, where bytes in flight count, too. A SEND whose peer has no receive
 * posted waits in the device, which tries again as the peer's {@code MIN_RNR_TIMER} and {@code RNR_RETRY_COUNT} say: a
 * peer that does not read its channel holds us back. Not so if the channels of an event loop share their receives,
 * {@link io.netty.channel.rdma.RdmaChannelOption#SHARED_RECEIVE_QUEUE}: then messages wait at the reader.
 *
 * <h2>Completions</h2>
 * A completion costs the device and the event loop something, so only the last operation of a flush asks for one, and
 * one in 64, or in {@code SEND_QUEUE_DEPTH} / 4 if that is less. It stands for all before, whose promises are done in
 * the order of the writes. Operations with {@link io.netty.channel.rdma.message.RdmaOperation#unsignalled()} do not
 * ask: a flush of nothing else has only the one in {@code SEND_QUEUE_DEPTH} / 4, and the promises behind that wait for
 * a later operation. A void promise changes nothing about this.
 *
 * <h2>Order</h2>
 * <ul>
 * <li>Operations are begun in the order in which they were written, and complete in that order.</li>
 * <li>Writes and sends take effect at the peer in that order: whoever gets a message may look at what was written
 *     before it. A completion of a write alone does not say that the peer's process sees the bytes already; to look at
 *     memory until it changes works on most hardware, but is promised by no specification.</li>
 * <li>A read may be overtaken by what is written after it: give that {@link
 *     io.netty.channel.rdma.message.RdmaOperation#fenced()}, or wait for the promise of the read. A read after a write
 *     of the same channel sees what was written.</li>
 * <li>Between channels, and between the two directions of one, there is no order.</li>
 * </ul>
 *
 * <h2>Memory and permissions</h2>
 * The owner registers memory ({@link io.netty.channel.rdma.RegisteredMemory}), {@linkplain
 * io.netty.channel.rdma.message.RdmaMessageChannel#export exports} it for a channel, or {@linkplain
 * io.netty.channel.rdma.message.RemoteMemory#of for a device} before there is one, and hands the {@link
 * io.netty.channel.rdma.message.RemoteMemory} over. Two things must allow an operation of the peer: the memory, and the
 * owner's channel ({@link io.netty.channel.rdma.RdmaChannelOption#REMOTE_PERMISSIONS}).
 * <table>
 * <caption>The least permissions of each operation, and what a violation gives to the one who wrote it</caption>
 * <tr><th>operation</th><th>local memory</th><th>remote memory</th><th>owner's channel</th></tr>
 * <tr><td>send, with immediate or not</td><td>none</td><td>(the receive is the channel's own)</td><td>none</td></tr>
 * <tr><td>write, with immediate or not</td><td>none</td><td>LOCAL_WRITE and REMOTE_WRITE</td><td>REMOTE_WRITE</td></tr>
 * <tr><td>read</td><td>LOCAL_WRITE</td><td>REMOTE_READ</td><td>REMOTE_READ</td></tr>
 * <tr><td>atomics</td><td>LOCAL_WRITE, if the result goes to registered memory</td><td>LOCAL_WRITE and REMOTE_ATOMIC,
 *     at a multiple of 8</td><td>REMOTE_ATOMIC</td></tr>
 * <tr><td>any of these on a {@linkplain io.netty.channel.rdma.message.RdmaMessageChannel#bindWindow window}</td><td>as
 *     above</td><td>LOCAL_WRITE as above; the remote permission is the window's</td><td>as above</td></tr>
 * <tr><td>any, of no bytes</td><td>none</td><td>none</td><td>none</td></tr>
 * <tr><th>violation</th><td>{@code LOCAL_PROTECTION_ERROR}; the connection ends</td><td>{@code REMOTE_ACCESS_ERROR}.
 *     Known from the {@code RemoteMemory}: not posted, and the connection goes on. Found by the owner's device (a wrong
 *     or expired key, memory of another process, a range outside): the connection ends</td><td>{@code
 *     REMOTE_INVALID_REQUEST_ERROR}; the connection ends</td></tr>
 * </table>
 * All of them are {@link io.netty.channel.rdma.message.RdmaOperationException}s of the promise. When a connection ends
 * so, it ends for both: operations behind the wrong one fail as flushed, with what ended the connection as the cause of
 * their exception, and the owner's channel becomes inactive. A range outside of the {@code RemoteMemory} is as a
 * missing permission. Memory of {@link io.netty.channel.rdma.RdmaByteBufAllocator} can always be written to locally.
 * What a channel forbids counts from when the connection is established, since the connection manager allows everything
 * until then; what memory forbids counts always.
 *
 * <p>A {@linkplain io.netty.channel.rdma.message.RdmaMessageChannel#bindWindow memory window} opens a part of memory to
 * the peer of one channel, until one of them ends that: the owner by {@link
 * io.netty.channel.rdma.message.RdmaMemoryWindow#revoke()}, the peer by an {@code RdmaSendInv}, or the connection by
 * its end. Only one of the first two may be done for a window: to invalidate one that is not open is an error that may
 * end the connection. What is bound and what is invalidated counts from the completion of that, and the order of the
 * send queue holds for it, too. A connection keeps its windows of the device and binds them again with the next key, of
 * which there are 256 for each.
 *
 * <h2>States</h2>
 * <table>
 * <caption>{@link io.netty.channel.rdma.message.RdmaChannelState}</caption>
 * <tr><th>state</th><th>what is possible</th><th>left by</th></tr>
 * <tr><td>IDLE</td><td>options, {@code bind}, {@code connect}</td><td>{@code connect}, {@code exportEndpoint}:
 *     STARTING</td></tr>
 * <tr><td>STARTING</td><td>what is flushed waits. A server's channel: accept or reject</td><td>established: RUNNING;
 *     failed: IDLE, and connecting may be tried again if the channel is still open, as when the peer refuses; a timeout
 *     closes it, and so does a {@code Bootstrap}</td></tr>
 * <tr><td>RUNNING (active)</td><td>everything</td><td>{@code close}, the peer's disconnect, an error:
 *     STOPPING</td></tr>
 * <tr><td>STOPPING</td><td>nothing can be written. After a {@code close} what was flushed before is still executed, for
 *     {@code SO_LINGER} or 3 seconds; otherwise what was posted comes back, and what arrived is read, even if nobody
 *     has called {@code read}</td><td>all is back: IDLE</td></tr>
 * <tr><td>IDLE (closed)</td><td>nothing</td><td>never: to connect again, make another channel</td></tr>
 * </table>
 *
 * The pipeline gets each new state as a user event, in their order. It may be late: {@code RUNNING} comes after {@code
 * channelActive}.
 *
 * <h2>Connecting</h2>
 * By the connection manager: the client's {@link io.netty.channel.rdma.RdmaChannelOption#CONNECT_DATA} arrives with the
 * request, a user event {@link io.netty.channel.rdma.message.RdmaConnectionRequest} in the pipeline of the new
 * channel. A handler takes it, and accepts or rejects it with data of its own, at once or later; if none does, it is
 * accepted, and if that fails on this side the listener's pipeline gets the exception, as it does with a socket. The
 * client finds the answer in {@link io.netty.channel.rdma.message.RdmaMessageChannel#peerData()}, or in the {@link
 * io.netty.channel.rdma.verbs.ConnectionRejectedException}. Data of the user that belong to a connection are
 * attributes of its channel. Connecting takes 5 seconds at most by default.
 *
 * <p>Out of band: {@code bind} each channel to a local address, or set {@link
 * io.netty.channel.rdma.RdmaChannelOption#DEVICE}; {@linkplain
 * io.netty.channel.rdma.message.RdmaMessageChannel#exportEndpoint export} where its queue pair is, hand that {@link
 * io.netty.channel.rdma.message.RdmaEndpoint} to the other side in any way that nobody can change it on, and {@code
 * connect} each channel to the other's. The connection manager has no part in it, so there is no data, no timeout, and
 * nobody tells a channel that its peer has gone: it finds out when an operation fails, or by {@code SO_KEEPALIVE}. Not
 * with iWARP, where nothing but the connection manager makes connections.
 *
 * <p>An application with an event channel of its own gives the request that it read there to {@link
 * io.netty.channel.rdma.message.RdmaMessageChannel#RdmaMessageChannel(io.netty.channel.rdma.verbs.ConnectionEvent,
 * java.util.concurrent.Executor)}.
 *
 * <h2>Datagrams</h2>
 * {@link io.netty.channel.rdma.message.RdmaDatagramChannel} has one queue pair (UD) for any number of peers. The wire
 * carries what is written and nothing of ours, so the other end may be any verbs program. What is said above of memory
 * in place, inline bytes, staging, and completions holds here, too; the rest differs:
 * <ul>
 * <li>A datagram that was sent may be lost: on the way, because nobody is there, or because the receiver has no receive
 *     posted. A promise tells that our device has sent it, no more. A receiver that does not read loses what comes
 *     beyond {@code RECEIVE_QUEUE_DEPTH}; no device tells how many that were.</li>
 * <li>A datagram has at most {@link io.netty.channel.rdma.message.RdmaDatagramChannel#maxPayload()} bytes, the MTU of
 *     the port, as verbs don't fragment. The promise of a longer one fails and says so; the others are sent. (Most
 *     devices would drop it and report success.)</li>
 * <li>There are no operations but sends, with or without 32 bits of immediate data.</li>
 * </ul>
 *
 * <h3>Recipients</h3>
 * <table>
 * <caption>What a datagram can be written to</caption>
 * <tr><th>recipient</th><th>how it is found</th></tr>
 * <tr><td>{@code InetSocketAddress}</td><td>The connection manager asks who receives there (SIDR, IBA vol. 1, 12.11).
 *     That takes a few messages, and is remembered for {@code ADDRESS_TTL_MILLIS} for up to 4096 addresses; then it is
 *     asked for again while the old answer is used. Datagrams wait for the first answer, in their order. If there is
 *     none ({@code PortUnreachableException}: nobody is bound there; {@code ConnectTimeoutException} after {@code
 *     CONNECT_TIMEOUT_MILLIS}) their promises fail, and the next datagram has it asked for again. No more than 256
 *     addresses are asked for at a time: the promise of a datagram to one more fails.</td></tr>
 * <tr><td>{@link io.netty.channel.rdma.message.RdmaDatagramAddress}</td><td>It says all: the sender of a datagram, or
 *     what a peer has told in another way, of its {@link
 *     io.netty.channel.rdma.message.RdmaDatagramChannel#datagramAddress()}.</td></tr>
 * <tr><td>a group</td><td>an {@code InetSocketAddress} with its address, once it was joined; the port does not matter.
 *     </td></tr>
 * <tr><td>none</td><td>what the channel is connected to. A connected channel reads only what comes from there; {@code
 *     disconnect} ends that, and the channel stays bound.</td></tr>
 * </table>
 * Datagrams for one recipient are not held up by those that wait for another, but promises are done in the order of the
 * writes, as the outbound buffer of a channel needs it: one that waits holds back the <em>promises</em> behind it, and
 * after {@code SEND_QUEUE_DEPTH} + 1024 of these the datagrams, too. Who sends to hosts that may be down sets a short
 * {@code CONNECT_TIMEOUT_MILLIS}.
 *
 * <p>A bound channel answers those who ask for its port, at any time and whether it reads or not; nothing is kept of
 * them. A queue pair belongs to one device, so the wildcard address stands for one address of this host that a device
 * has. {@code connect} without {@code bind} binds to the address that leads to the peer.
 *
 * <p>The sender is what the header of the datagram says (its global identifier, or the LID with InfiniBand) and its
 * queue pair; the queue key is taken to be our own, which the sender has known. A header can be forged by whoever can
 * send raw packets on the network, as with UDP. A datagram whose header makes no sense is {@linkplain
 * io.netty.channel.rdma.message.RdmaDatagramChannel#dropped() dropped}. For an answer the device needs an address
 * handle; it is made when something is sent, so that many senders cost nothing, and the last 1024 are kept. With RoCE
 * that may take as long as ARP does, so it is done by threads beside the event loops ({@code rdma-address-handles}),
 * and datagrams wait for it as they do for the answer of the connection manager; the promise fails if the host is not
 * found.
 *
 * <p>All queue pairs that the connection manager makes for datagrams have the same queue key ({@link
 * io.netty.channel.rdma.message.RdmaDatagramAddress#DEFAULT_QUEUE_KEY}). It keeps strays out, nobody else.
 *
 * <h3>Groups</h3>
 * A channel may join several. Who sends to a group must have joined it as well, if only to send, which not all networks
 * have. A member receives its own datagrams, too. The recipient of a datagram that is read tells the group. When the
 * network ends a membership, an {@link io.netty.channel.rdma.message.RdmaMulticastException} goes to {@code
 * exceptionCaught}, and the group may be joined again. {@link
 * io.netty.channel.rdma.message.RdmaCapabilities#supportsMulticast()} tells whether the device has groups.
 *
 * <h3>The end</h3>
 * A {@code close} waits for what was flushed before, for {@code SO_LINGER} or 3 seconds: also for addresses that are
 * asked for. Meanwhile the channel is active and not writable. A queue pair that fails ({@code exceptionCaught} says
 * why) closes its channel. A bound channel stays on its event loop.
 *
 * <h2>Who does what</h2>
 * <pre>
 *   RdmaServerMessageChannel      RdmaMessageChannel ── IncomingConnection: a request, until it is answered
 *                                         │
 *                                 MessageConnection: the queue pair, and its end ── MemoryWindows
 *                                    │          │
 *                  MessageSender, SendSlots    MessageReceiver ── Receives: OwnReceives or
 *                         │                                               SharedReceives
 *                         ├── FlushedMessages: the outbound buffer, until its operations are done
 *                         └── OperationGatherer: work requests from operations
 *
 *   ManualConnector: a queue pair without the connection manager
 *
 *   RdmaDatagramChannel ── DatagramQueuePair
 *                             ├── DatagramSender, AddressHandles; below as above
 *                             ├── MessageReceiver ── DatagramReceives, RoutingHeader: who has sent it
 *                             ├── DatagramRecipients: which queue pair is behind an IP address
 *                             └── MulticastGroups
 * </pre>
 * <h3>States of a connection</h3>
 * {@code MessageConnection} has one of these: OPEN, BROKEN, FLUSHING, LOST, CLOSED, RELEASED, in this order.
 * <table>
 * <caption>What an event makes of a state; "-": nothing</caption>
 * <tr><th>event</th><th>OPEN</th><th>BROKEN, FLUSHING</th><th>LOST</th><th>CLOSED</th></tr>
 * <tr><td>a work request failed; the peer has disconnected, rejected; the device fails</td><td>BROKEN</td><td>-</td>
 *     <td>-</td><td>-</td></tr>
 * <tr><td>the end of a turn</td><td>a close that waits may go on</td><td>disconnected: FLUSHING; when all has come
 *     back, or after 3 s, LOST: the pipeline reads what has arrived, and the channel is
 *     told</td><td>-</td><td>-</td></tr>
 * <tr><td>an exception of the transport's or a handler's; no memory for a message that has arrived</td>
 *     <td>BROKEN, and LOST without reading</td><td>LOST without reading</td><td>the channel is closed</td>
 *     <td>logged</td></tr>
 * <tr><td>the channel is closed</td><td>disconnected: CLOSED</td><td>CLOSED</td><td>CLOSED</td><td>-</td></tr>
 * <tr><td>shared receives that were begun have come back, or 100 ms after the close</td><td>-</td><td>noted</td>
 *     <td>noted</td><td>RELEASED; at once if there are none</td></tr>
 * <tr><td>the event loop ends</td><td>RELEASED</td><td>RELEASED</td><td>RELEASED</td><td>RELEASED</td></tr>
 * </table>
 *
 * <p>Below is {@code io.netty.channel.rdma}: event loops, completion queues, registered memory, connecting. A connected
 * channel stays on the event loop that it was registered with.
 */
package io.netty.channel.rdma.message;
