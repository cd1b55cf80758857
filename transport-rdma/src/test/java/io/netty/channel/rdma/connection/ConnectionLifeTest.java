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
package io.netty.channel.rdma.connection;

import io.netty.channel.rdma.connection.ConnectionLife.State;
import io.netty.channel.rdma.stream.SendQueue;
import io.netty.channel.rdma.stream.StreamConfig;
import io.netty.channel.rdma.stream.StreamMachine;
import io.netty.channel.rdma.stream.StreamState;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The table of states and events in the description of the package, without a queue pair.
 */
@Tag("quick")
class ConnectionLifeTest {
    /**
     * The state after an event and what it has left for later, for each state. While it closes, a channel has left more
     * than could be sent.
     */
    private static final String TABLE = """
        event        CREATED    NEGOTIATED READY      OPEN       CLOSING    FLUSHING   LOST       ABORTING   DESTROYED
        negotiated   NEGOTIATED NEGOTIATED READY      OPEN       CLOSING    FLUSHING   LOST       ABORTING   DESTROYED
        peerReady    READY      READY      READY      OPEN       CLOSING    FLUSHING   LOST       ABORTING   DESTROYED
        open         CREATED    NEGOTIATED OPEN       OPEN       CLOSING    FLUSHING   LOST       ABORTING   DESTROYED
        turnEnds     CREATED    NEGOTIATED READY      OPEN       CLOSING    FLUSHING   LOST       DESTROYED  DESTROYED
        allIsBack    CREATED    NEGOTIATED READY      OPEN       CLOSING    LOST       LOST       DESTROYED  DESTROYED
        allIsSent    CREATED    NEGOTIATED READY      OPEN       DESTROYED  FLUSHING   LOST       DESTROYED  DESTROYED
        requestFails FLUSHING   FLUSHING   FLUSHING   FLUSHING   ABORTING   FLUSHING   LOST       ABORTING   DESTROYED
        postFails    FLUSHING   FLUSHING   FLUSHING   FLUSHING   ABORTING   FLUSHING   LOST       ABORTING   DESTROYED
        peerGone     FLUSHING   FLUSHING   FLUSHING   FLUSHING   DESTROYED  FLUSHING   LOST       DESTROYED  DESTROYED
        fails        FLUSHING   FLUSHING   FLUSHING   FLUSHING   DESTROYED  FLUSHING   LOST       DESTROYED  DESTROYED
        timesOut     FLUSHING   FLUSHING   FLUSHING   FLUSHING   DESTROYED  FLUSHING   LOST       DESTROYED  DESTROYED
        throws       LOST       LOST       LOST       LOST       DESTROYED  LOST       DESTROYED  DESTROYED  DESTROYED
        time         CREATED    NEGOTIATED READY      OPEN       CLOSING    LOST       LOST       ABORTING   DESTROYED
        close        DESTROYED  DESTROYED  CLOSING    CLOSING    CLOSING    DESTROYED  DESTROYED  DESTROYED  DESTROYED
        reset        DESTROYED  DESTROYED  DESTROYED  DESTROYED  DESTROYED  DESTROYED  DESTROYED  DESTROYED  DESTROYED
        loopEnds     DESTROYED  DESTROYED  DESTROYED  DESTROYED  DESTROYED  DESTROYED  DESTROYED  DESTROYED  DESTROYED
        """;

    /** Actions, and calls of the channel, in order. */
    private final List<String> calls = new ArrayList<>();
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private Runnable scheduled;
    private boolean flushed;
    private boolean sendingDetached = true;
    private boolean streamEnded;
    private boolean endedByPeer;
    private boolean beyondLimit;
    private final SendQueue sends = new SendQueue(StreamConfig.DEFAULT);
    private long completed;
    private long nanos;
    private ConnectionLife life;

    @BeforeEach
    void create() {
        ConnectionOwner owner = (ConnectionOwner) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] { ConnectionOwner.class }, (proxy, method, arguments) -> {
                    if (method.getReturnType() == boolean.class) {
                        return false;
                    }
                    if (method.getReturnType() == void.class) {
                        calls.add(method.getName() + (arguments == null ? "" : Arrays.toString(arguments)));
                    }
                    return method.getReturnType() == String.class ? "channel" : null;
                });
        life = new ConnectionLife(owner, new Recorder(), stream(), tasks::add,
                new LivenessOptions(new OptionValues(StreamOptions.TABLE)));
    }

    /** The peer has everything as soon as the stream has ended. */
    private StreamMachine stream() {
        return (StreamMachine) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] { StreamMachine.class }, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                    case "state":
                        return streamEnded ? StreamState.DISCONNECTED : StreamState.OPEN;
                    case "disconnect":
                        calls.add("endStream");
                        streamEnded = true;
                        return null;
                    case "isDrained":
                        return true;
                    case "isEndedByPeer":
                        return false;
                    case "sendQueue":
                        return sends;
                    default:
                        throw new UnsupportedOperationException(method.getName());
                    }
                });
    }

    static Stream<Arguments> cells() {
        List<String> lines = TABLE.lines().toList();
        String[] states = lines.get(0).split(" +");
        return lines.stream().skip(1).map(line -> line.split(" +")).flatMap(row -> {
            assertThat(row).hasSameSizeAs(states);
            return Stream.iterate(1, i -> i < states.length, i -> i + 1)
                    .map(i -> Arguments.of(states[i], row[0], row[i]));
        });
    }

    @ParameterizedTest
    @MethodSource("cells")
    void everyEventHasItsEffectInEveryState(State from, String event, State to) {
        bringTo(from);
        happen(event);
        runTasks();
        assertThat(life.state()).isEqualTo(to);
        assertThat(calls).filteredOn(call -> call.equals("release")).hasSize(to == State.DESTROYED ? 1 : 0);
        assertThat(calls).filteredOn(call -> call.equals("disconnect")).hasSizeLessThanOrEqualTo(1);
        assertThat(calls).filteredOn(call -> call.startsWith("connectionLost") || call.startsWith("notEstablished"))
                .hasSizeLessThanOrEqualTo(1);
    }

    @Test
    void tableHasAllStates() {
        assertThat(cells().map(cell -> cell.get()[0]).distinct()).containsExactlyElementsOf(
                Arrays.stream(State.values()).map(Enum::name).toList());
    }

    @Test
    void connectionThatBreaksAsThePeerIsFoundReadyIsEstablishedAndThenLost() {
        bringTo(State.NEGOTIATED);
        happen("peerGone");
        happen("peerReady");
        assertThat(life.open()).isTrue();
        assertThat(life.open()).isFalse();
        happen("allIsBack");
        assertThat(calls).containsExactly("disconnect", "schedule",
                "connectionLost[java.io.IOException: Connection reset by peer: null, false, false]");
    }

    @Test
    void connectionThatBreaksBeforeIsNotEstablished() {
        bringTo(State.NEGOTIATED);
        happen("peerGone");
        happen("allIsBack");
        assertThat(calls).containsExactly("disconnect", "schedule",
                "notEstablished[java.io.IOException: Connection reset by peer: null, false]");
    }

    @Test
    void peerThatHadEndedItsStreamHasEndedInOrder() {
        bringTo(State.OPEN);
        endedByPeer = true;
        happen("peerGone");
        happen("allIsBack");
        assertThat(calls).last().asString().startsWith("connectionLost[").endsWith(", true, false]");
    }

    @Test
    void firstFailureCounts() {
        bringTo(State.OPEN);
        happen("requestFails");
        happen("fails");
        runTasks();
        happen("allIsBack");
        assertThat(calls).last().asString().contains("Connection reset by peer").endsWith(", false, false]");
    }

    @Test
    void failureThatNoSocketHasIsSaidToBeOne() {
        bringTo(State.OPEN);
        happen("fails");
        runTasks();
        happen("allIsBack");
        assertThat(calls).last().asString().contains("failed here").endsWith(", false, true]");
    }

    @Test
    void exceptionCountsAsAFailureEvenIfThePeerWasGoneAndHadEnded() {
        bringTo(State.OPEN);
        endedByPeer = true;
        happen("requestFails");
        happen("throws");
        runTasks();
        assertThat(calls).last().asString().startsWith("connectionLost[").endsWith(", false, true]");
    }

    @Test
    void secondExceptionClosesTheChannel() {
        bringTo(State.OPEN);
        happen("throws");
        happen("throws");
        runTasks();
        assertThat(life.state()).isEqualTo(State.DESTROYED);
        assertThat(calls).anyMatch(call -> call.startsWith("abort["));
    }

    @Test
    void closedChannelEndsItsStreamBehindTheBytesAndThenTheConnection() {
        bringTo(State.CLOSING);
        assertThat(calls).doesNotContain("endStream", "disconnect");
        happen("allIsSent");
        assertThat(calls.subList(calls.indexOf("endStream"), calls.size()))
                .containsExactly("endStream", "send", "disconnect", "release");
    }

    @Test
    void connectionOfAPeerThatStopsTakingBytesIsGivenUpAndNotOneThatGoesOn() {
        bringTo(State.CLOSING);
        sendingDetached = false;
        sends.failed(completed++);
        happen("time");
        assertThat(life.state()).isEqualTo(State.CLOSING);
        happen("time");
        assertThat(life.state()).isEqualTo(State.DESTROYED);
    }

    @Test
    void connectionOfAPeerThatTakesBytesTooSlowlyIsGivenUp() {
        bringTo(State.CLOSING);
        int steps = 0;
        for (; life.state() == State.CLOSING && steps < 100; steps++) {
            sends.failed(completed++);
            nanos += TimeUnit.SECONDS.toNanos(50);
            happen("time");
        }
        assertThat(steps).isEqualTo(6);
        assertThat(life.state()).isEqualTo(State.DESTROYED);
    }

    @Test
    void connectionOfAPeerThatTakesNothingIsGivenUpAfterAMinute() {
        bringTo(State.CLOSING);
        nanos += TimeUnit.SECONDS.toNanos(59);
        happen("time");
        assertThat(life.state()).isEqualTo(State.CLOSING);
        nanos += TimeUnit.SECONDS.toNanos(1);
        happen("time");
        assertThat(life.state()).isEqualTo(State.DESTROYED);
    }

    /** A peer could offer any amount of memory, and then let nothing in. */
    @Test
    void connectionWithMoreInFlightThanAClosedChannelMayLeaveIsGivenUpSoon() {
        bringTo(State.CLOSING);
        sends.failed(completed++);
        beyondLimit = true;
        happen("time");
        assertThat(life.state()).isEqualTo(State.DESTROYED);
    }

    private void bringTo(State state) {
        if (isAtLeast(state, State.NEGOTIATED)) {
            life.negotiated();
        }
        if (isAtLeast(state, State.READY)) {
            life.peerReady();
        }
        if (isAtLeast(state, State.OPEN)) {
            life.open();
        }
        switch (state) {
        case CLOSING:
            life.close(false);
            break;
        case FLUSHING:
            life.gone(null);
            break;
        case LOST:
            life.gone(null);
            happen("allIsBack");
            break;
        case ABORTING:
            life.close(false);
            happen("requestFails");
            break;
        case DESTROYED:
            life.destroy();
            break;
        default:
        }
        assertThat(life.state()).isEqualTo(state);
    }

    private static boolean isAtLeast(State state, State other) {
        return state.compareTo(other) >= 0;
    }

    private void happen(String event) {
        switch (event) {
        case "negotiated":
            life.negotiated();
            break;
        case "peerReady":
            life.peerReady();
            break;
        case "open":
            life.open();
            break;
        case "turnEnds":
            life.advance();
            break;
        case "allIsBack":
            flushed = true;
            life.advance();
            break;
        case "allIsSent":
            sendingDetached = false;
            life.advance();
            break;
        case "requestFails":
            life.broken(WorkCompletionStatus.RETRY_EXCEEDED_ERROR);
            break;
        case "postFails":
            life.broken(new IOException("not posted"));
            break;
        case "peerGone":
            life.gone(null);
            break;
        case "fails":
            life.fail(new IOException("failed here"));
            break;
        case "timesOut":
            life.timedOut(new IOException("timed out"));
            break;
        case "throws":
            life.abort(new IllegalStateException("thrown"));
            break;
        case "time":
            Runnable due = scheduled;
            scheduled = null;
            if (due != null) {
                due.run();
            }
            break;
        case "close":
            life.close(false);
            break;
        case "reset":
            life.close(true);
            break;
        case "loopEnds":
            life.destroy();
            break;
        default:
            throw new IllegalArgumentException(event);
        }
    }

    private void runTasks() {
        for (Runnable task; (task = tasks.poll()) != null;) {
            task.run();
        }
    }

    private final class Recorder implements ConnectionLife.Actions {
        @Override
        public void schedule(Runnable task, long millis) {
            calls.add("schedule");
            scheduled = task;
        }

        @Override
        public void disconnect() {
            calls.add("disconnect");
        }

        @Override
        public void discardInput() {
            calls.add("discardInput");
        }

        @Override
        public boolean isEndedByPeer() {
            return endedByPeer;
        }

        @Override
        public void send() {
            calls.add("send");
        }

        @Override
        public boolean isSendingDetached() {
            return sendingDetached;
        }

        @Override
        public boolean isDetachedBeyondLimit() {
            return beyondLimit;
        }

        @Override
        public long nanoTime() {
            return nanos;
        }

        @Override
        public boolean isFlushed() {
            return flushed;
        }

        @Override
        public void release() {
            calls.add("release");
            scheduled = null;
        }
    }
}
