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
 * Channels for applications that want RDMA itself. A message of the pipeline is an operation of verbs on a reliable
 * connection, or a datagram. {@link io.netty.channel.rdma.RdmaSocketChannel} hides verbs.
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
 * Connections come first, {@linkplain io.netty.channel.rdma.message.RdmaDatagramChannel datagrams} below.
 *
 * <h2>Operations</h2>
 * <table>
 * <caption>Messages that an application writes, and their effect at the peer</caption>
 * <tr><th>message</th><th>verb</th><th>when the promise is done</th><th>the peer's pipeline gets</th></tr>
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
 *     io.netty.channel.rdma.message.RdmaFetchAndAdd}</td><td>atomics on 8 aligned bytes</td><td>the operation is
 *     executed. The old value is in {@code oldValue()}, a buffer or registered memory</td><td>nothing</td></tr>
 * </table>
 * {@link io.netty.channel.rdma.message.RdmaSyncEvent} is a counter for which its owner can wait, and which peers change
 * by these operations. Some devices have no atomics. iWARP has no immediate data, reads only into memory with {@code
 * REMOTE_WRITE}, and ends a connection whose peer has no receive for a message. {@link
 * io.netty.channel.rdma.message.RdmaCapabilities} has the features of a device, and the greatest values of options. The
 * channel refuses an operation that its device does not have, and the connection goes on.
 *
 * <p>Each operation is one work request. A flush posts all written operations with one call. The device sends
 * registered memory in place: memory of the channel's allocator ({@code ctx.alloc()}), received buffers, and {@link
 * io.netty.channel.rdma.RegisteredMemory}. Up to {@code MAX_INLINE} bytes are a part of the work request. A composite
 * buffer becomes a list of up to {@code MAX_SEND_SGES} elements, one for each component. The channel copies other
 * memory once; if a message has more pieces than elements, it copies all of the message. An operation whose copy would
 * be longer than 4 MiB fails. Any operation may be without bytes. {@link
 * io.netty.channel.rdma.message.RdmaMessageMetrics} counts operations, and their bytes in place, inline and copied.
 *
 * <p>Memory of a peer device, such as a graphics processor, has no buffer, because the processor may not be able to
 * access it. {@link io.netty.channel.rdma.RegisteredMemory#ofDmabuf} registers such memory as a dma-buf. It is exported
 * like other memory. A send, write or read can have a {@linkplain io.netty.channel.rdma.RegisteredMemory#slice slice}
 * of any registered memory in place of the buffer, or a list of up to {@code MAX_SEND_SGES} slices.
 *
 * <p>Messages of up to {@code RECEIVE_BUFFER_SIZE} bytes arrive in buffers that the channel posts. With {@link
 * io.netty.channel.rdma.RdmaChannelOption#MANUAL_RECEIVES} the application posts the receives, as buffers or as lists
 * of slices of its own memory, which may be a peer device's. See {@link
 * io.netty.channel.rdma.message.RdmaMessageChannel#postReceive(java.util.List)}.
 *
 * <p>A message that is longer than the peer's receive ends the connection, as verbs demand. With {@link
 * io.netty.channel.rdma.message.RdmaRendezvousHandler} at both ends messages have any length.
 *
 * <p>An operation can be {@linkplain io.netty.channel.rdma.message.RdmaOperation written again} with another offset,
 * length or value. A write or read without bytes needs no remote memory ({@code null}). It only finds out whether the
 * peer's device answers.
 *
 * <p>Operations for which the send queue has no room wait, and meanwhile the channel is not writable, whatever their
 * sizes are. The usual water marks hold as well, and bytes in flight count for them. If the peer has posted no receive,
 * a SEND waits in this end's device. The device tries again as the peer's {@code MIN_RNR_TIMER} and {@code
 * RNR_RETRY_COUNT} say. So a peer that does not read slows its sender down. If the channels of an event loop share
 * their receives ({@link io.netty.channel.rdma.RdmaChannelOption#SHARED_RECEIVE_QUEUE}), messages wait at the reader
 * instead.
 *
 * <h2>Completions</h2>
 * A completion costs time of the device and the event loop. So only the last operation of a flush asks for one, and one
 * in 64 (or in {@code SEND_QUEUE_DEPTH} / 4 if that is less). A completion stands for all operations before it; their
 * promises are done in the order of the writes. Operations with {@link
 * io.netty.channel.rdma.message.RdmaOperation#unsignalled()} do not ask. In a flush with no other operations only one
 * in {@code SEND_QUEUE_DEPTH} / 4 asks, and the promises after it wait for a later operation. A void promise changes
 * nothing about this.
 *
 * <h2>Order</h2>
 * <ul>
 * <li>Operations begin in the order in which they were written, and complete in that order.</li>
 * <li>Writes and sends take effect at the peer in that order. A peer that gets a message sees the bytes that were
 *     written before it. The completion of a write alone does not mean that the peer's process sees the bytes. To poll
 *     memory for a change works on most hardware, but no specification promises it.</li>
 * <li>Operations may overtake a read that was written before them. To prevent that, make them {@link
 *     io.netty.channel.rdma.message.RdmaOperation#fenced()}, or wait for the promise of the read. A read after a write
 *     of the same channel sees the written bytes.</li>
 * <li>Between channels, and between the two directions of a channel, there is no order.</li>
 * </ul>
 *
 * <h2>Memory and permissions</h2>
 * The owner registers memory ({@link io.netty.channel.rdma.RegisteredMemory}). It {@linkplain
 * io.netty.channel.rdma.message.RdmaMessageChannel#export exports} the memory for a channel, or {@linkplain
 * io.netty.channel.rdma.message.RemoteMemory#of for a device} before there is a channel. Then it sends the {@link
 * io.netty.channel.rdma.message.RemoteMemory} to the peer. An operation of the peer needs permissions of the memory and
 * of the owner's channel ({@link io.netty.channel.rdma.RdmaChannelOption#REMOTE_PERMISSIONS}).
 * <table>
 * <caption>The least permissions of each operation, and the exception of its promise without them</caption>
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
 *     If the {@code RemoteMemory} shows it, the operation is not posted, and the connection goes on. If the owner's
 *     device finds it (a wrong or expired key, memory of another process, a range outside), the connection
 *     ends</td><td>{@code REMOTE_INVALID_REQUEST_ERROR}; the connection ends</td></tr>
 * </table>
 * All of these are {@link io.netty.channel.rdma.message.RdmaOperationException}s of the promise. A connection that ends
 * in this way ends for both peers. Later operations fail as flushed; the cause of their exception is the reason why the
 * connection ended. The owner's channel becomes inactive. A range outside of the {@code RemoteMemory} counts as a
 * missing permission. Memory of {@link io.netty.channel.rdma.RdmaByteBufAllocator} can always be written to locally.
 * The permissions of a channel hold from when the connection is established, because the connection manager allows
 * everything until then. The permissions of memory hold always.
 *
 * <p>A {@linkplain io.netty.channel.rdma.message.RdmaMessageChannel#bindWindow memory window} opens a part of memory to
 * the peer of one channel. It ends when the owner calls {@link
 * io.netty.channel.rdma.message.RdmaMemoryWindow#revoke()}, when the peer sends an {@code RdmaSendInv}, or with the
 * connection. Owner and peer must agree who ends a window: to invalidate a window that is not open is an error that may
 * end the connection. A bind and an invalidation take effect when their work requests complete, which follow the order
 * of the send queue. A connection keeps the windows of the device that it has allocated. It binds them again with the
 * next key; each has 256 keys.
 *
 * <h2>States</h2>
 * <table>
 * <caption>{@link io.netty.channel.rdma.message.RdmaChannelState}</caption>
 * <tr><th>state</th><th>what is possible</th><th>left by</th></tr>
 * <tr><td>IDLE</td><td>options, {@code bind}, {@code connect}</td><td>{@code connect}, {@code exportEndpoint}:
 *     STARTING</td></tr>
 * <tr><td>STARTING</td><td>flushed operations wait. A server's channel: accept or reject</td><td>established: RUNNING.
 *     Failed: IDLE; the application may connect again if the channel is still open, for example when the peer has
 *     refused. A timeout closes the channel, and so does a {@code Bootstrap}</td></tr>
 * <tr><td>RUNNING (active)</td><td>everything</td><td>{@code close}, the peer's disconnect, an error:
 *     STOPPING</td></tr>
 * <tr><td>STOPPING</td><td>no writes. After a {@code close}, operations that were flushed before are still executed,
 *     for {@code SO_LINGER} or 3 seconds. Otherwise posted operations come back, and messages that have arrived are
 *     read, even without a {@code read}</td><td>all operations are back: IDLE</td></tr>
 * <tr><td>IDLE (closed)</td><td>nothing</td><td>never: to connect again, make another channel</td></tr>
 * </table>
 *
 * The pipeline gets each new state as a user event, in their order. The event may be late: {@code RUNNING} comes after
 * {@code channelActive}.
 *
 * <h2>Connecting</h2>
 * With the connection manager, the client's {@link io.netty.channel.rdma.RdmaChannelOption#CONNECT_DATA} arrives with
 * the request. The pipeline of the new channel gets the request as a user event, a {@link
 * io.netty.channel.rdma.message.RdmaConnectionRequest}. A handler that takes the event accepts or rejects the request
 * with data of its own, at once or later. If no handler takes it, the channel accepts. If that fails on this side, the
 * listener's pipeline gets the exception, as with a socket. The client finds the answer in {@link
 * io.netty.channel.rdma.message.RdmaMessageChannel#peerData()}, or in the {@link
 * io.netty.channel.rdma.verbs.ConnectionRejectedException}. Connecting takes 5 seconds at most by default. Attributes
 * of the channel can hold data of the application.
 *
 * <p>Out of band (without the connection manager): {@code bind} each channel to a local address, or set {@link
 * io.netty.channel.rdma.RdmaChannelOption#DEVICE}. {@linkplain
 * io.netty.channel.rdma.message.RdmaMessageChannel#exportEndpoint Export} its queue pair as an {@link
 * io.netty.channel.rdma.message.RdmaEndpoint}. Send that to the other side in a way that protects it from changes, and
 * {@code connect} each channel to the other's endpoint. There is no data and no timeout, and a channel is not told that
 * its peer has gone. It notices when an operation fails, or by {@code SO_KEEPALIVE}. iWARP does not have this, because
 * only the connection manager can make its connections.
 *
 * <p>An application with an event channel of its own gives a request that it has read there to {@link
 * io.netty.channel.rdma.message.RdmaMessageChannel#RdmaMessageChannel(io.netty.channel.rdma.verbs.ConnectionEvent,
 * java.util.concurrent.Executor)}.
 *
 * <h2>Datagrams</h2>
 * {@link io.netty.channel.rdma.message.RdmaDatagramChannel} has one queue pair (UD) for any number of peers. Datagrams
 * on the wire have no header of this transport, so the peer may be any verbs program. Memory in place, inline bytes,
 * staging, and completions are as above. The differences are:
 * <ul>
 * <li>A datagram may be lost: on the way, because no queue pair has its address, or because the receiver has no receive
 *     posted. A promise only tells that this end's device has sent it. A receiver that does not read loses the
 *     datagrams beyond {@code RECEIVE_QUEUE_DEPTH}, and no device counts them.</li>
 * <li>A datagram has at most {@link io.netty.channel.rdma.message.RdmaDatagramChannel#maxPayload()} bytes, the MTU of
 *     the port, because verbs don't fragment. The promise of a longer one fails, and the others are sent. (Most devices
 *     would drop it and report success.)</li>
 * <li>The only operations are sends, with or without 32 bits of immediate data.</li>
 * </ul>
 *
 * <h3>Recipients</h3>
 * <table>
 * <caption>Recipients of a datagram</caption>
 * <tr><th>recipient</th><th>how the channel finds it</th></tr>
 * <tr><td>{@code InetSocketAddress}</td><td>The connection manager asks for the queue pair that receives there (SIDR,
 *     IBA vol. 1, 12.11), by a few messages. The channel remembers up to 4096 addresses for {@code ADDRESS_TTL_MILLIS}.
 *     Then the connection manager asks again, while the channel uses the old answer. Datagrams wait for the first
 *     answer, in their order. If there is none, their promises fail: with {@code PortUnreachableException} if the port
 *     is not bound, with {@code ConnectTimeoutException} after {@code CONNECT_TIMEOUT_MILLIS}. The next datagram begins
 *     a new question. At most 256 addresses are asked for at a time; the promise of a datagram to another address
 *     fails.</td></tr>
 * <tr><td>{@link io.netty.channel.rdma.message.RdmaDatagramAddress}</td><td>It has all that is needed: the sender of a
 *     datagram, or the {@link io.netty.channel.rdma.message.RdmaDatagramChannel#datagramAddress()} of a peer that has
 *     sent it in another way.</td></tr>
 * <tr><td>a group</td><td>an {@code InetSocketAddress} with its address, after the channel has joined it; the port does
 *     not matter.</td></tr>
 * <tr><td>none</td><td>the peer that the channel is connected to. A connected channel reads only datagrams of that
 *     peer. {@code disconnect} ends that, and the channel stays bound.</td></tr>
 * </table> Datagrams do not wait for those to another recipient. But promises are done in the order of the writes,
 * because the outbound buffer of a channel needs that order. So a datagram that waits delays the <em>promises</em>
 * behind it. After {@code SEND_QUEUE_DEPTH} + 1024 of these it delays the datagrams, too. If some hosts may be down,
 * set a short {@code CONNECT_TIMEOUT_MILLIS}.
 *
 * <p>A bound channel answers the questions for its port, at any time and whether it reads or not, and keeps nothing
 * about the peers that ask. A queue pair belongs to one device, so the wildcard address stands for one address of this
 * host that a device has. {@code connect} without {@code bind} binds to the address that leads to the peer.
 *
 * <p>The sender of a datagram is the queue pair and the global identifier in its header (with InfiniBand the LID). The
 * channel assumes its own queue key, which the sender has used. Any host that can send raw packets on the network can
 * forge a header, as with UDP. The channel {@linkplain io.netty.channel.rdma.message.RdmaDatagramChannel#dropped()
 * drops} a datagram whose header makes no sense. To answer, the device needs an address handle. The channel makes it
 * when it sends, so that many senders cost nothing, and keeps the last 1024. With RoCE that may take as long as ARP, so
 * threads beside the event loops ({@code rdma-address-handles}) do it. Datagrams wait for the handle as for an answer
 * of the connection manager. The promise fails if the host is not found.
 *
 * <p>All queue pairs that the connection manager makes for datagrams have the same queue key ({@link
 * io.netty.channel.rdma.message.RdmaDatagramAddress#DEFAULT_QUEUE_KEY}). It keeps out strays, but no attacker.
 *
 * <h3>Groups</h3>
 * A channel may join several groups. To send to a group it must have joined it as well. It may join to send only, which
 * not all networks have. A member receives its own datagrams, too. The recipient of a datagram that is read is the
 * group. When the network ends a membership, {@code exceptionCaught} gets an {@link
 * io.netty.channel.rdma.message.RdmaMulticastException}, and the channel may join the group again. {@link
 * io.netty.channel.rdma.message.RdmaCapabilities#supportsMulticast()} tells whether the device has groups.
 *
 * <h3>The end</h3>
 * A {@code close} waits for {@code SO_LINGER} or 3 seconds until flushed datagrams are sent, also for answers about
 * addresses. Meanwhile the channel is active and not writable. A queue pair that fails closes its channel, and {@code
 * exceptionCaught} gets the reason. A bound channel stays on its event loop.
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
 *                             ├── MessageReceiver ── DatagramReceives, RoutingHeader: the sender
 *                             ├── DatagramRecipients: the queue pair of an IP address
 *                             └── MulticastGroups
 * </pre>
 * <h3>States of a connection</h3>
 * {@code MessageConnection} has one of these: OPEN, BROKEN, FLUSHING, LOST, CLOSED, RELEASED, in this order.
 * <table>
 * <caption>The next state after an event; "-": the same</caption>
 * <tr><th>event</th><th>OPEN</th><th>BROKEN, FLUSHING</th><th>LOST</th><th>CLOSED</th></tr>
 * <tr><td>a work request failed; the peer has disconnected, rejected; the device fails</td><td>BROKEN</td><td>-</td>
 *     <td>-</td><td>-</td></tr>
 * <tr><td>the end of a turn</td><td>a close that waits may go on</td><td>disconnects: FLUSHING. When all requests have
 *     come back, or after 3 s: LOST; the pipeline reads all messages that have arrived, and then the channel is
 *     told</td><td>-</td><td>-</td></tr>
 * <tr><td>an exception of the transport or of a handler; no memory for a message that has arrived</td>
 *     <td>BROKEN, and LOST without reading</td><td>LOST without reading</td><td>the channel is closed</td>
 *     <td>logged</td></tr>
 * <tr><td>the channel is closed</td><td>disconnects: CLOSED</td><td>CLOSED</td><td>CLOSED</td><td>-</td></tr>
 * <tr><td>shared receives in use have come back, or 100 ms after the close</td><td>-</td><td>noted</td>
 *     <td>noted</td><td>RELEASED; at once if there are none</td></tr>
 * <tr><td>the event loop ends</td><td>RELEASED</td><td>RELEASED</td><td>RELEASED</td><td>RELEASED</td></tr>
 * </table>
 *
 * <p>Below is {@code io.netty.channel.rdma}: event loops, completion queues, registered memory, connecting. A connected
 * channel stays on the event loop that it was registered with.
 */
package io.netty.channel.rdma.message;
