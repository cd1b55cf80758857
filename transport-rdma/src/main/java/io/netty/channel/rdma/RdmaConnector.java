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

import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.attempt.AttemptFailure;
import io.netty.channel.rdma.attempt.AttemptPlan;
import io.netty.channel.rdma.attempt.AttemptRules;
import io.netty.channel.rdma.attempt.Destination;
import io.netty.channel.rdma.attempt.RecentFailures;
import io.netty.channel.rdma.connection.Bind;
import io.netty.channel.rdma.connection.DeviceOptions;
import io.netty.channel.rdma.connection.OutgoingConnection;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.connection.Reachability;
import io.netty.channel.rdma.connection.Rejection;
import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.loop.LoopEvents;
import io.netty.channel.rdma.loop.move.ConnectionIdMigration;
import io.netty.channel.rdma.loop.move.LoopId;
import io.netty.channel.rdma.metrics.RdmaProviderChoice;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.unix.UnixChannelUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.verbs.ConnectionRejectedException.Reason.REFUSED;
import static io.netty.channel.rdma.verbs.ConnectionRejectedException.Reason.REJECTED;
import static io.netty.channel.rdma.verbs.ConnectionRejectedException.Reason.VERSION;

/**
 * Makes one outgoing connection in four steps: address, route, queue pair, request. It tries the providers that the
 * channel may use, in the order of an {@link AttemptPlan}, until one of them leads to a peer that listens. On the loop.
 */
final class RdmaConnector implements LoopEvents.Listener {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaConnector.class);

    /** The longest attempt. A listener of this host answers within a millisecond, if it is not stopped or starting. */
    private static final long ATTEMPT_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long REMEMBER_NANOS = TimeUnit.SECONDS.toNanos(30);
    /** The shortest preparation that is worth another timer. */
    private static final long MIN_PREPARATION_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final AbstractRdmaConnectedChannel channel;
    private final InetSocketAddress requestedRemote;
    /** The local address, or {@code null}. */
    private final InetSocketAddress requestedLocal;
    /** Providers that the channel may use; empty if it is bound. */
    private List<VerbsApi> providers = List.of();
    /** {@code null} if the channel is bound. */
    private AttemptPlan<VerbsApi> plan;
    /** The failure of the providers that were tried, or {@code null}. */
    private IOException failure;
    /** The provider of the present or last attempt; {@code null} before the first one. */
    private VerbsApi provider;
    /** Ends the connect; {@code null} without a limit. */
    private LoopBinding.Timer timeout;
    private int timeoutMillis;
    private long deadlineNanos;
    /** Ends an attempt that is not the last one; {@code null} if there was no such attempt. */
    private LoopBinding.Timer attemptTimer;
    private LoopId loopId;
    private ConnectionId id;
    private InetSocketAddress remote;
    /** The connection, which owns the id from the request on; {@code null} before. */
    private OutgoingConnection connection;
    private boolean done;

    /** @param local or {@code null}. */
    RdmaConnector(AbstractRdmaConnectedChannel channel, InetSocketAddress remote, InetSocketAddress local) {
        this.channel = channel;
        requestedRemote = remote;
        requestedLocal = local;
    }

    private LoopBinding loop() {
        return loopId.loop();
    }

    /**
     * The object that moves to another event loop with the channel. If the connection cannot move, its id waits on this
     * loop for the channel's return.
     */
    ConnectionIdMigration.Owner owner() {
        return connection instanceof ConnectionIdMigration.Owner ? (ConnectionIdMigration.Owner) connection : loopId;
    }

    /**
     * Starts the connect. The channel gets the result.
     *
     * @param bound the id to connect, which belongs to this object from now on; or {@code null}.
     */
    void start(LoopId bound) throws Exception {
        timeoutMillis = channel.config().getConnectTimeoutMillis();
        if (bound == null) {
            startUnbound();
        } else {
            start(bound, bound.id().localAddress());
        }
        if (timeoutMillis > 0) {
            deadlineNanos = loop().nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
            startTimeout();
        }
    }

    private void startUnbound() throws Exception {
        providers = channel.connecting().queuePairOptions().device.providers();
        // With a single provider there is no other one to try, so no failure is remembered.
        plan = new AttemptPlan<>(AttemptRules.PROVIDERS, providers, new Destination(requestedRemote),
                RecentFailures.shared(), new AttemptPlan.Times(
                        TimeUnit.MILLISECONDS.toNanos(timeoutMillis), ATTEMPT_NANOS,
                        providers.size() == 1 ? 0 : REMEMBER_NANOS), channel.eventLoop().ticker());
        startNext();
    }

    private void startNext() throws Exception {
        for (;;) {
            provider = plan.next();
            try {
                start(channel.newLoopId(provider), null);
                limitAttempt();
                return;
            } catch (IOException e) {
                fallBack(e);
            }
        }
    }

    private void limitAttempt() {
        if (plan.hasNext()) {
            long nanos = plan.limitNanos();
            if (nanos > 0) {
                attemptTimer = loop().schedule(() -> failed(new ConnectTimeoutException("no answer by " + provider +
                        " within " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms: " + requestedRemote)), nanos,
                        TimeUnit.NANOSECONDS);
            }
        }
    }

    private static void cancel(LoopBinding.Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }

    private void startTimeout() {
        timeout = loop().schedule(() -> {
            ConnectTimeoutException cause = new ConnectTimeoutException(
                    "connection timed out after " + timeoutMillis + " ms: " + requestedRemote);
            if (failure != null) {
                cause.addSuppressed(failure);
            }
            channel.connecting().connectTimedOut(cause);
        }, deadlineNanos - loop().nanoTime(), TimeUnit.NANOSECONDS);
    }

    /** Starts the timer again, so that it belongs to the present id and moves with it to another event loop. */
    private void restartTimeout() {
        if (timeout != null) {
            timeout.cancel();
            startTimeout();
        }
    }

    /** The provider of the present or last attempt; {@code null} if there was none. */
    VerbsProvider provider() {
        return provider == null ? null : provider.provider();
    }

    /** @param boundTo the address that the id has already, or {@code null}. */
    private void start(LoopId newLoopId, InetSocketAddress boundTo) throws Exception {
        loopId = newLoopId;
        id = loopId.id();
        loopId.listener(this);
        VerbsApi verbs = id.verbs();
        provider = verbs;
        DeviceOptions device = channel.connecting().queuePairOptions().device;
        InetSocketAddress from = boundTo != null ? requestedLocal :
                device.local(verbs, requestedLocal, requestedRemote.getAddress());
        remote = Reachability.destination(verbs, requestedRemote, from);
        if (from != null) {
            Bind.bind(id, from, device);
        }
        channel.connecting().queuePairOptions().route(id);
        try {
            id.resolveAddress(null, remote,
                    channel.connecting().queuePairOptions().get(QueuePairOptions.RESOLVE_TIMEOUT_MILLIS));
        } catch (VerbsException e) {
            throw Reachability.unreachable(verbs, e);
        }
    }

    /**
     * Gives up the provider that was tried last, if there is another one to try and the peer was not reached.
     *
     * @throws IOException if there is none.
     */
    private void fallBack(IOException cause) throws IOException {
        cancel(attemptTimer);
        AttemptFailure kind = AttemptFailure.of(cause);
        if (plan == null || !plan.failed(kind, kind)) {
            throw mostTelling(cause);
        }
        logger.debug("{}: {} does not lead to {}: {}", channel, provider, requestedRemote, why(cause));
        if (failure != null) {
            cause.addSuppressed(failure);
        }
        failure = cause;
        discard();
    }

    /**
     * Returns the failure that tells most. "Nobody listens" tells more than "no route" of another provider, and "a
     * listener has another version" tells more than both.
     */
    private IOException mostTelling(IOException cause) {
        if (failure == null) {
            return cause;
        }
        boolean earlier = failure instanceof ConnectionRejectedException && cause instanceof NoRouteToHostException ||
                AttemptFailure.of(failure) == AttemptFailure.VERSION &&
                AttemptFailure.of(cause) == AttemptFailure.REFUSED;
        IOException telling = earlier ? failure : cause;
        telling.addSuppressed(earlier ? cause : failure);
        return telling;
    }

    /** Returns a reason for the log. The message of a "no route" would ask for the addresses of all devices. */
    private static String why(IOException cause) {
        return AttemptFailure.of(cause) == AttemptFailure.NO_ROUTE ? "no address that it leads to" : cause.getMessage();
    }

    private RdmaProviderChoice providerChoice() {
        VerbsProvider by = provider.provider();
        if (plan == null) {
            return new RdmaProviderChoice(by, RdmaProviderChoice.Reason.BOUND,
                    "bound to " + channel.local + " before it was connected");
        }
        if (VerbsApi.usable().size() == 1) {
            return new RdmaProviderChoice(by, RdmaProviderChoice.Reason.ONLY, VerbsApi.choice());
        }
        if (providers.size() == 1) {
            return new RdmaProviderChoice(by, RdmaProviderChoice.Reason.OPTION,
                    "chosen by the option PROVIDERS or DEVICE");
        }
        if (provider == providers.get(0)) {
            return new RdmaProviderChoice(by, RdmaProviderChoice.Reason.NEAREST,
                    "a listener of this host has answered");
        }
        RecentFailures.Remembered remembered = plan.remembered();
        if (remembered != null) {
            return new RdmaProviderChoice(by, RdmaProviderChoice.Reason.REMEMBERED,
                    providers.get(0) + ": " + remembered.why() + ' ' +
                    TimeUnit.NANOSECONDS.toMillis(remembered.ageNanos()) + " ms before");
        }
        return new RdmaProviderChoice(by, reason(failure), providers.get(0) + ": " + why(failure));
    }

    private static RdmaProviderChoice.Reason reason(IOException failure) {
        return switch (AttemptFailure.of(failure)) {
        case REFUSED -> RdmaProviderChoice.Reason.REFUSED;
        case NO_ROUTE -> RdmaProviderChoice.Reason.NO_ROUTE;
        case TIMEOUT -> RdmaProviderChoice.Reason.TIMEOUT;
        default -> RdmaProviderChoice.Reason.FAILED;
        };
    }

    @Override
    public void connectionEvent(ConnectionEvent event) {
        if (done || event.id() != id) {
            return;
        }
        try {
            switch (event.type()) {
            case ADDRESS_RESOLVED -> {
                channel.local = id.localAddress();
                resolveRoute();
            }
            case ROUTE_RESOLVED -> request();
            case ESTABLISHED -> established(event);
            case ADDRESS_ERROR, ROUTE_ERROR ->
                throw event.isOfAnotherVersion() ? rejected(event) : Reachability.unreachable(event, null);
            case UNREACHABLE, CONNECT_ERROR ->
                throw new ConnectException("Connection failed (" + event.describe() + ')');
            case REJECTED -> throw rejected(event);
            case DISCONNECTED -> throw new ConnectException("Connection reset by peer");
            case DEVICE_REMOVAL -> throw new IOException("the RDMA device was removed");
            default -> { }
            }
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Handles a failure, which may be an OutOfMemoryError: there may be no direct memory for the receive buffer. */
    private void failed(Throwable cause) {
        Throwable earlier = connection == null ? null : connection.failure();
        Throwable last = cause;
        if (earlier != null) {
            // Later failures of a broken queue pair are only consequences of the first one.
            last = earlier;
        } else if (cause instanceof IOException) {
            try {
                fallBack((IOException) cause);
                startNext();
                restartTimeout();
                return;
            } catch (Throwable t) {
                last = t;
            }
        }
        done = true;
        channel.connectFailed(last);
    }

    @Override
    public void unexpected(Throwable cause) {
        if (!done) {
            done = true;
            channel.connectFailed(cause);
        }
    }

    private void resolveRoute() throws IOException {
        try {
            id.resolveRoute(channel.connecting().queuePairOptions().get(QueuePairOptions.RESOLVE_TIMEOUT_MILLIS));
        } catch (VerbsException e) {
            // The kernel finds a device for the loopback address, but no route.
            throw Reachability.unreachable(id.verbs(), e);
        }
    }

    private void request() throws Exception {
        long begin = loop().nanoTime();
        connection = channel.connecting().createConnection(loopId);
        ConnectionParameters parameters = connection.parameters();
        long nanos = loop().nanoTime() - begin;
        if (nanos >= MIN_PREPARATION_NANOS) {
            // The time to prepare this end does not shorten the peer's time for an answer. The first connection of a
            // process loads classes and registers memory, which takes half a second on busy processors.
            deadlineNanos += nanos;
            restartTimeout();
        }
        id.connect(parameters);
    }

    private void established(ConnectionEvent event) throws Exception {
        done = true;
        cancel(attemptTimer);
        cancel(timeout);
        channel.local = id.localAddress();
        channel.connecting().queuePairOptions().connected(id.queuePair());
        channel.providerChoice = providerChoice();
        if (plan != null) {
            plan.connected();
        }
        channel.connecting().connected(connection, event, peer(id.remoteAddress()));
    }

    /**
     * Returns the address of the peer with the name that was requested, as epoll's channels do. A connect to the
     * wildcard has an address of this host. (The utility for these channels leaves out the scope of a link-local
     * address.)
     */
    private InetSocketAddress peer(InetSocketAddress found) {
        if (found.getAddress().isLinkLocalAddress()) {
            return found;
        }
        // The utility makes a name for each address that it gets.
        return found.equals(requestedRemote) ? requestedRemote
                : UnixChannelUtil.computeRemoteAddr(requestedRemote, found);
    }

    private static ConnectionRejectedException rejected(ConnectionEvent event) {
        if (event.isNobodyListening()) {
            return new ConnectionRejectedException("Connection refused" + Reachability.missing(event.id().verbs()),
                    REFUSED, event.privateData());
        }
        if (event.isOfAnotherVersion()) {
            return new ConnectionRejectedException("Connection rejected: " + event.describe(), VERSION,
                    event.privateData());
        }
        String reason = event.isRejectedByApplication() ? Rejection.text(event.privateData()) : "";
        if (reason.isEmpty() && event.isRejectedByApplication()) {
            // The kernel says the same if a listener has the port, but not this address.
            return new ConnectionRejectedException("Connection refused (nobody listens at this address, or the peer " +
                    "gives no reason)", REFUSED, event.privateData());
        }
        return new ConnectionRejectedException("Connection " + (reason.isEmpty() ? event.describe() :
                "rejected by the peer: " + reason), REJECTED, event.privateData());
    }

    /** Ends the connect, because the channel is closed or gives up. */
    void cancel() {
        done = true;
        cancel(attemptTimer);
        cancel(timeout);
        discard();
    }

    private void discard() {
        if (connection != null) {
            OutgoingConnection discarded = connection;
            connection = null;
            discarded.discard();
        } else if (loopId != null) {
            loopId.close();
        }
        loopId = null;
        id = null;
    }
}
