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
package io.netty.channel.rdma.attempt;

import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Peers whose candidates fail and are repaired, and processes that connect to them by the rules, by a clock of its own.
 * Each connect is made as by {@code ConnectPlan}, whose attempt by RDMA is one of {@code RdmaConnector}. What must be
 * true of every attempt and every connect is asserted as it happens.
 */
final class SimulatedCluster {
    static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    /** Times of {@code RdmaConnector}. */
    private static final long PROVIDER_ATTEMPT = 3 * SECOND;
    private static final long PROVIDER_REMEMBER = 30 * SECOND;

    enum State { ANSWERS, REFUSES, NO_ROUTE, SILENT }

    /** Nearest first. */
    enum Way {
        SHARED_MEMORY(MILLI, 60 * SECOND), DEVICE(30 * MILLI, 78 * SECOND), TCP(MILLI, 127 * SECOND);

        /** Time of an answer. */
        final long latency;
        /** After this time without an answer the kernel, or the provider, gives up. */
        final long givesUp;

        Way(long latency, long givesUp) {
            this.latency = latency;
            this.givesUp = givesUp;
        }
    }

    private enum Transport { RDMA, TCP }

    /** Settings of all clients. */
    record Settings(long total, long attempt, long remember, int maxDestinations) { }

    private record Event(long time, long number, Runnable action) { }

    private static final class Link {
        /** As it is when nothing has failed. */
        State whole = State.ANSWERS;
        State state = State.ANSWERS;
        long since = Long.MIN_VALUE / 2;
    }

    /** Where somebody may listen. */
    final class Peer {
        final Destination destination;
        private final Map<Way, Link> links = new EnumMap<>(Way.class);

        Peer(InetSocketAddress address) {
            destination = new Destination(address);
            for (Way way : Way.values()) {
                links.put(way, new Link());
            }
        }

        /** From now on. */
        void set(Way way, State state) {
            Link link = links.get(way);
            if (link.state != state) {
                link.state = state;
                link.since = now();
            }
        }

        /** When nothing has failed, and now. */
        void setUp(Way way, State state) {
            links.get(way).whole = state;
            repair(way);
        }

        void repair(Way way) {
            set(way, links.get(way).whole);
        }

        private State state(Way way) {
            return links.get(way).state;
        }

        private boolean hasAnsweredSince(Way way, long time) {
            Link link = links.get(way);
            return link.state == State.ANSWERS && link.since <= time;
        }
    }

    private record Key(Peer peer, Object candidate) { }

    /** The attempts of one process to reach a peer by a candidate that is not the last resort. */
    private static final class Seen {
        int underWay;
        boolean remembered;
        long rememberedAt;
        long triedUntil = Long.MIN_VALUE;
    }

    /** A process. */
    final class Client {
        private final RecentFailures memory = new RecentFailures(settings.maxDestinations, ticker);
        private final Map<Key, Seen> seen = new HashMap<>();

        private Seen seen(Peer peer, Object candidate) {
            return seen.computeIfAbsent(new Key(peer, candidate), key -> new Seen());
        }

        /** @param ways that are allowed, in order. */
        void connect(Peer peer, List<Way> ways) {
            new Connect(this, peer, ways).start();
        }
    }

    private final MockTicker ticker = Ticker.newMockTicker();
    private final Settings settings;
    private final PriorityQueue<Event> events = new PriorityQueue<>(
            Comparator.comparingLong(Event::time).thenComparingLong(Event::number));
    private long lastEvent;
    final List<Peer> peers = new ArrayList<>();
    final List<Client> clients = new ArrayList<>();
    /** Connects that have ended, with a connection or without. */
    long succeeded;
    long failed;
    /** Connects that have succeeded by a candidate that was not the nearest one allowed. */
    long detours;
    /** Attempts by a candidate whose failure was remembered. */
    long retries;

    SimulatedCluster(int peerCount, int clientCount, Settings settings) throws UnknownHostException {
        this.settings = settings;
        for (int i = 0; i < peerCount; i++) {
            peers.add(new Peer(new InetSocketAddress(InetAddress.getByAddress(
                    new byte[] {10, (byte) (i >> 16), (byte) (i >> 8), (byte) i}), 7)));
        }
        for (int i = 0; i < clientCount; i++) {
            clients.add(new Client());
        }
    }

    long now() {
        return ticker.nanoTime();
    }

    void after(long nanos, Runnable action) {
        events.add(new Event(now() + nanos, ++lastEvent, action));
    }

    /** Until nothing happens any more. */
    void run() {
        for (Event event; (event = events.poll()) != null;) {
            ticker.advance(event.time - now(), TimeUnit.NANOSECONDS);
            event.action.run();
        }
    }

    /** Something between the two, evenly on a scale of powers. */
    static long between(Random random, long from, long to) {
        return (long) (from * Math.pow((double) to / from, random.nextDouble()));
    }

    /** One connect. */
    private final class Connect {
        private final Client client;
        private final Peer peer;
        private final List<Way> ways;
        private final List<Way> providers;
        private final long begin = now();
        /** {@code null} if TCP is not allowed. */
        private AttemptPlan<Transport> transports;
        private AttemptPlan<Way> rdma;
        /** Deadline of the attempt by RDMA; {@link Long#MAX_VALUE} for none. */
        private long rdmaDeadline;
        private AttemptFailure rdmaFailure;
        private boolean othersTry;
        private int attempts;

        Connect(Client client, Peer peer, List<Way> ways) {
            this.client = client;
            this.peer = peer;
            this.ways = ways;
            providers = new ArrayList<>(ways);
            providers.remove(Way.TCP);
        }

        void start() {
            othersTry = client.seen(peer, Way.SHARED_MEMORY).underWay + client.seen(peer, Transport.RDMA).underWay > 0;
            if (!ways.contains(Way.TCP)) {
                startRdma(settings.total);
                return;
            }
            transports = new AttemptPlan<>(AttemptRules.TRANSPORTS, List.of(Transport.values()), peer.destination,
                    client.memory, new AttemptPlan.Times(settings.total, settings.attempt, settings.remember), ticker);
            nextTransport(true);
        }

        private void nextTransport(boolean first) {
            Transport transport = transports.next();
            long limit = transports.limitNanos();
            if (transport == Transport.RDMA) {
                begins(Transport.RDMA, first, settings.attempt, settings.remember, limit);
                startRdma(limit);
            } else {
                attempt(Way.TCP, limit == 0 ? Long.MAX_VALUE : limit, failure -> {
                    if (failure == null) {
                        transports.connected();
                        succeeds(Way.TCP);
                    } else if (transports.failed(failure, failure)) {
                        nextTransport(false);
                    } else {
                        forgotten(List.of(Transport.RDMA));
                        fails();
                    }
                });
            }
        }

        private void startRdma(long limit) {
            rdmaDeadline = limit == 0 ? Long.MAX_VALUE : now() + limit;
            rdmaFailure = null;
            rdma = new AttemptPlan<>(AttemptRules.PROVIDERS, providers, peer.destination, client.memory,
                    new AttemptPlan.Times(limit, PROVIDER_ATTEMPT,
                            providers.size() == 1 ? 0 : PROVIDER_REMEMBER), ticker);
            nextProvider(true);
        }

        private void nextProvider(boolean first) {
            Way way = rdma.next();
            long limit = rdma.hasNext() ? rdma.limitNanos() : 0;
            boolean isWatched = way != providers.get(providers.size() - 1);
            if (isWatched) {
                begins(way, first, PROVIDER_ATTEMPT, PROVIDER_REMEMBER, limit);
            }
            long rest = rdmaDeadline == Long.MAX_VALUE ? Long.MAX_VALUE : rdmaDeadline - now();
            boolean isLimited = limit > 0 && limit < rest;
            attempt(way, isLimited ? limit : rest, failure -> {
                if (failure == AttemptFailure.TIMEOUT && !isLimited) {
                    // Deadline of all attempts: the channel is closed, and the plan hears nothing.
                    if (isWatched) {
                        client.seen(peer, way).underWay--;
                    }
                    rdmaFails(failure);
                    return;
                }
                boolean more = false;
                if (failure == null) {
                    rdma.connected();
                } else {
                    more = rdma.failed(failure, failure);
                }
                if (isWatched) {
                    ends(way);
                }
                if (failure == null) {
                    rdmaSucceeds(way);
                } else if (more) {
                    rdmaFailure = failure;
                    nextProvider(false);
                } else {
                    forgotten(providers.subList(0, providers.size() - 1));
                    rdmaFails(rdmaFailure == AttemptFailure.REFUSED && failure == AttemptFailure.NO_ROUTE ?
                            rdmaFailure : failure);
                }
            });
        }

        private void rdmaSucceeds(Way way) {
            if (transports != null) {
                transports.connected();
                ends(Transport.RDMA);
            }
            succeeds(way);
        }

        private void rdmaFails(AttemptFailure failure) {
            if (transports == null) {
                fails();
                return;
            }
            boolean more = transports.failed(failure, failure);
            ends(Transport.RDMA);
            if (more) {
                nextTransport(false);
            } else {
                forgotten(List.of(Transport.RDMA));
                fails();
            }
        }

        /** Answer of the network, or of this host. */
        private void attempt(Way way, long limit, Consumer<AttemptFailure> then) {
            assertThat(++attempts).as("a connect ends").isLessThan(10);
            State state = peer.state(way);
            long takes = state == State.SILENT ? way.givesUp : state == State.NO_ROUTE ? 0 : way.latency;
            AttemptFailure failure = state == State.ANSWERS ? null : state == State.REFUSES ? AttemptFailure.REFUSED :
                    state == State.NO_ROUTE ? AttemptFailure.NO_ROUTE : AttemptFailure.NETWORK;
            if (takes <= limit) {
                after(takes, () -> then.accept(failure));
            } else {
                after(limit, () -> then.accept(AttemptFailure.TIMEOUT));
            }
        }

        // ---- what is asserted

        /** @param first whether there are other candidates that have not been tried. */
        private void begins(Object candidate, boolean first, long attempt, long remember, long limit) {
            Seen seen = client.seen(peer, candidate);
            if (first) {
                assertThat(limit).as("cost of a candidate that is not the last resort").isBetween(1L, attempt);
                if (seen.remembered && peers.size() <= settings.maxDestinations) {
                    assertThat(now() - seen.rememberedAt).as("no flapping").isGreaterThanOrEqualTo(remember);
                    assertThat(now()).as("one tries again").isGreaterThanOrEqualTo(seen.triedUntil);
                    seen.triedUntil = now() + attempt;
                    retries++;
                }
            }
            seen.underWay++;
        }

        private void ends(Object candidate) {
            Seen seen = client.seen(peer, candidate);
            seen.underWay--;
            seen.remembered = client.memory.get(peer.destination, candidate) != null;
            if (seen.remembered) {
                seen.rememberedAt = now() - client.memory.get(peer.destination, candidate).ageNanos();
            }
            assertThat(client.memory.size()).as("bounded memory").isLessThanOrEqualTo(settings.maxDestinations);
        }

        /** All candidates have failed. */
        private void forgotten(List<?> candidates) {
            for (Object candidate : candidates) {
                assertThat(client.memory.get(peer.destination, candidate)).as("nothing of a peer that is down")
                        .isNull();
                client.seen(peer, candidate).remembered = false;
            }
        }

        private void succeeds(Way way) {
            succeeded++;
            detours += way == ways.get(0) ? 0 : 1;
            if (othersTry) {
                return;
            }
            // The longest time for which an attempt may have been under way that has failed, twice that of one that is
            // made again, and the longest for which that is remembered.
            long settled = begin - (settings.total == 0 ? Way.TCP.givesUp : settings.total) -
                    2 * Math.max(settings.attempt, PROVIDER_ATTEMPT) - Math.max(settings.remember, PROVIDER_REMEMBER);
            for (Way nearer : ways.subList(0, ways.indexOf(way))) {
                assertThat(peer.hasAnsweredSince(nearer, settled)).as("%s is returned to, not %s", nearer, way)
                        .isFalse();
            }
        }

        private void fails() {
            failed++;
            for (Way way : ways) {
                assertThat(peer.hasAnsweredSince(way, begin)).as("no black hole: %s has answered since the connect " +
                        "began", way).isFalse();
            }
        }
    }
}
