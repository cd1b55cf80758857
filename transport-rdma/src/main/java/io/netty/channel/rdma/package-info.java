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
 * A Netty transport over RDMA verbs. To change an application from the epoll transport, use {@link
 * io.netty.channel.rdma.RdmaIoHandler} for {@code EpollIoHandler}, {@link
 * io.netty.channel.rdma.RdmaServerSocketChannel} for {@code EpollServerSocketChannel} and {@link
 * io.netty.channel.rdma.RdmaSocketChannel} for {@code EpollSocketChannel}; handlers stay as they are.
 *
 * <h2>Who does what</h2>
 * <pre>
 *   RdmaServerSocketChannel      RdmaSocketChannel ─── RdmaReadLoop: what arrived, to the pipeline (ReadLoop)
 *            │                     │           │
 *            └──── RdmaAcceptor ───┤           │         makes a connection: incoming, outgoing
 *                  RdmaConnector ──┘   RdmaSocketUnsafe ── LingeringEnd
 *                                      what the pipeline asks for, and what the connection tells; closing
 *
 *   AbstractRdmaChannel ── AbstractRdmaServerChannel, AbstractRdmaConnectedChannel: what all protocols need
 *          │               AbstractRdmaSocketChannel: RdmaSocketChannel but for its protocol
 *          └── LoopChange           deregistered from one event loop, and registered with another one
 *   ChannelQueuePair: the queue pair of channels of messages and of datagrams
 *
 *   RdmaByteBufAllocator: registered memory for the application, of slabs; RegisteredMemory: of other buffers
 * </pre>
 * Below are packages that know nothing of channels, which docs/design.md lists. The packages {@code loop} and {@code
 * connection} say what a turn of the event loop does.
 *
 * <h2>Sending</h2>
 * Messages stay in the {@link io.netty.channel.ChannelOutboundBuffer} until the device has sent them, or has copied
 * their bytes into the work request ({@link io.netty.channel.rdma.RdmaChannelOption#MAX_INLINE}); a write's promise
 * tells no less. Nobody waits for the completion of a request that was copied, so it asks for none, and the loop is
 * not woken by it. Bytes in registered memory (of {@link io.netty.channel.rdma.RdmaByteBufAllocator}, or received ones)
 * are sent in place, short ones inside of the work request, all others are copied once into staging memory: heap
 * buffers, buffers of other allocators, and file regions. {@link io.netty.channel.rdma.RdmaMetrics} counts which. Work
 * requests carry numbers; a completion stands for all up to its own.
 *
 * <h2>Receiving</h2>
 * The peer writes into the connection's {@code ReceiveMemory}, segment by segment, and nowhere else. That is one {@code
 * ReceiveBuffer} at first, and more while the peer is held up by the lack of it; the class says when. The pipeline gets
 * slices of it; a segment goes back to the peer when the last slice is released, by whatever thread. When the
 * application holds half of the memory, and for short arrivals anyway, it gets copies. A handler that does not read
 * holds the peer back, because segments fill up; nothing is buffered elsewhere.
 *
 * <h2>Memory in flight</h2>
 * What a work request reads or writes belongs to the work request ({@code MemoryInFlight}): it has a reference to the
 * memory, which only its completion or the end of the queue pair gives back. So it does not matter what becomes of the
 * message and its buffers meanwhile. Netty discards messages when a channel is closed, its output shut down, or a write
 * fails; a buffer moves to other memory when it grows beyond its {@code Cell}, though slices of it are in flight; a
 * composite buffer releases its components when it is consolidated. What is not posted yet follows the buffer.
 * <p>
 * A reference keeps the allocator from giving the memory away, but not an application that has one, too, from changing
 * the bytes, as it may once the promise is done. So no promise is done as long as a work request reads bytes in place
 * that others have a reference to: see below.
 *
 * <h2>The end of a connection</h2>
 * <table>
 * <caption>What is said to the peer, and what the application sees</caption>
 * <tr><th>what happens</th><th>on the wire</th><th>the peer's channel</th></tr>
 * <tr><td>{@code shutdownOutput()}</td><td>SHUTDOWN, behind the bytes</td><td>end of input</td></tr>
 * <tr><td>{@code close()}</td><td>DISCONNECT, behind the bytes; then the connection manager's disconnect</td>
 *     <td>end of input</td></tr>
 * <tr><td>{@code close()} with {@code SO_LINGER} 0</td><td>the connection manager's disconnect alone</td>
 *     <td>{@code IOException: Connection reset by peer}, of the flushed writes or of {@code exceptionCaught}; then
 *     inactive</td></tr>
 * <tr><td>the process dies, or the network</td><td>nothing: the device gives up, or the connection manager</td>
 *     <td>as above</td></tr>
 * <tr><td>the peer breaks the protocol</td><td>the connection manager's disconnect alone</td><td>reset; here the
 *     {@link io.netty.channel.rdma.stream.StreamProtocolException} is given to {@code exceptionCaught}</td></tr>
 * </table>
 * {@code close()} and {@code shutdownOutput()} wait until what was flushed before has arrived, so that the promises of
 * these writes can say so; meanwhile the channel is active and not writable. A close does that for 3 seconds at most,
 * or as many as {@code SO_LINGER} says; then the channel is closed, and the promises that are left fail with a {@code
 * ClosedChannelException}. The first of the bytes are sent all the same, as a kernel goes on to send what a closed
 * socket has left in its buffer: {@code SO_SNDBUF} of them, by default 4 MiB, as Linux has it for TCP. The rest is
 * dropped, as by epoll's channels; so a close, also that of an {@code IdleStateHandler} or {@code WriteTimeoutHandler},
 * frees what was flushed to a peer that does not read. Those that are sent are copied before the promises fail, except
 * in a buffer of ours with a single reference, which nobody else can change. Nor are the promises done before what is
 * in flight in place of other buffers has arrived. Nothing more is posted meanwhile, and the peer has room for it, so
 * that takes no longer than the devices need; after 3 seconds, or with the loop's end, the connection is reset instead.
 * The peer is given up when it has taken nothing for a minute ({@code USER_TIMEOUT_MILLIS}), or not all within five,
 * when it closes too, or when the event loop ends, which a process should give a quiet period for. What arrives after a
 * close is dropped.
 * <p>
 * On the connection manager's event the queue pair is stopped and its receives are flushed: only when the last one is
 * back is it known whether the peer had said goodbye. {@code RdmaSocketUnsafe} then does what the epoll transport does.
 * If flushed writes had not arrived, they fail with the cause, and that closes the channel. If there are none, what had
 * landed is read, whether the pipeline reads or not, {@code exceptionCaught} gets the cause, and the input ends, which
 * closes the channel unless half closure is allowed. If the peer had said goodbye, there is no exception, and what it
 * sent before is read first; then what is written since fails, and closes the channel as with epoll.
 * <p>
 * An exception while the loop does something for a connection (its completions, an event of the connection manager, a
 * task, a timer) ends that one connection with this cause, and no other. What was left undone is not known then, so
 * nothing is waited for and no more bytes are read.
 * <p>
 * No end waits long for the connection manager, whose disconnect may take over a minute to report that nobody answers:
 * the queue pair is destroyed, and its memory given back, at the latest 3 seconds after the last byte was sent. After
 * DISCONNECT of the peer it is kept as long as that or until the peer disconnects, with the channel closed: its device
 * may still owe the acknowledgement of that message, for which librdmacm waits.
 *
 * <h2>Peers that do not answer</h2>
 * A device repeats what is not acknowledged and then gives up, within seconds or minutes depending on its options. That
 * does not find a dead peer on an idle connection, nor one that lives but takes nothing; {@code Liveness} does, when
 * asked to by {@code SO_KEEPALIVE} and {@link io.netty.channel.rdma.RdmaChannelOption#USER_TIMEOUT_MILLIS}. An
 * outgoing connection, from the address to the answer, must be made within {@code CONNECT_TIMEOUT_MILLIS}; so must an
 * incoming one, whose peer then counts as gone; a peer of the embedded provider, which is on this host, must confirm
 * what was accepted within 5 seconds. Peers that vanish in the middle of that are logged at debug level only: the
 * channel is registered, but never active, and closed. So it is if something on this side fails, and the listener warns
 * of that once a minute, as peers can cause it at any rate.
 *
 * <h2>Connecting</h2>
 * Address, route, queue pair, request. The local address chooses the device, and the device the limits of the options:
 * {@code QueuePairOptions} and {@code QueuePairResources}. The connection data of the stream protocol travel in the
 * private data of request and answer. An incoming request becomes a channel that waits in the backlog of the listener
 * until that reads; it is then registered with a loop of its own, to which the connection id migrates, and the
 * registration (with it {@code channelActive}) is complete when the peer has answered. If the listener does not read,
 * the connection is made nevertheless, so that a client can connect and send, as with TCP; a full backlog rejects.
 * <p>
 * Until the peer has answered, the application does not know of the connection and can't count it, and the peer needs
 * next to nothing for it. So connections count against {@code SO_BACKLOG} from the request until they are established
 * and read, and the registered memory of those that are half-open is an eighth of what there may be: further requests
 * wait for it. Of both a peer may use as much as is left ({@code PeerShares}), so that others always find some. A peer
 * is an address or, with the embedded provider, a process of this user or all processes of another one. A request of
 * something that does not speak the protocol is rejected too, each with a reason that the other side finds in its
 * exception.
 *
 * <h2>Threads</h2>
 * Everything of a channel happens on its event loop, as in any Netty transport. Any thread may release received
 * buffers, and allocate.
 *
 * <p>A channel may be deregistered and registered with another event loop, connected or not ({@code LoopChange}); how
 * its connection gets there is in the package {@code loop.move}. Between two loops it still belongs to the one that it
 * left: what arrives for a connection or a connect waits, requests are put into the backlog of a listener, which takes
 * them along. If that loop ends, so does the channel, unlike one of TCP, which belongs to the kernel then: its next
 * registration fails with a {@code ClosedChannelException} that says so. Who deregisters a channel whose close waits
 * gets it when it is closed. The close of a channel that is registered with no loop does not wait for what was flushed;
 * that of one on its way to another loop comes with the arrival.
 *
 * <h2>System properties</h2>
 * <ul>
 * <li>{@code io.netty.rdma.maxPinnedMemory}: bytes of memory that may be registered in the process: slabs of {@link
 *     io.netty.channel.rdma.RdmaByteBufAllocator#DEFAULT} (16 MiB each), staging memory, receive memory, and {@link
 *     io.netty.channel.rdma.RegisteredMemory} of other buffers; default half of the maximum direct memory. The last
 *     eighth is for that one, the first receive buffer of each connection and the first slab of staging memory. {@link
 *     io.netty.channel.rdma.RdmaMetrics#pinnedMemory()} tells how much is in use.</li>
 * <li>{@code io.netty.rdma.maxStagingMemory}: bytes, for the process, of registered memory for bytes that can't be sent
 *     in place; default 64 MiB, at least 16 MiB. One connection holds no more than a 64th of it.</li>
 * <li>{@code io.netty.rdma.provider}, {@code io.netty.rdma.embedded.folder}, {@code io.netty.rdma.embedded.users} and
 *     {@code io.netty.rdma.embedded.groups}: see {@link io.netty.channel.rdma.verbs.VerbsApi}</li>
 * </ul>
 *
 * <h2>Differences from TCP</h2>
 * <ul>
 * <li>Port numbers are a space of their own: TCP port 8080 and RDMA port 8080 have nothing to do with each other.</li>
 * <li>Each connection has its own registered receive memory (64 KiB to {@code SO_RCVBUF}, by default 1 MiB, and 4 KiB
 *     of tables); with many busy connections make it smaller, and watch the limit of locked memory.</li>
 * <li>A write is complete when the peer's device has the bytes, not when a local socket buffer took them; so the water
 *     marks are higher.</li>
 * <li>Connect timeouts are exact, but an unreachable address usually fails at once.</li>
 * </ul>
 */
package io.netty.channel.rdma;
