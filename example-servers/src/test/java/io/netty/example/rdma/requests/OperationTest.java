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
package io.netty.example.rdma.requests;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaMessageMetrics;
import io.netty.channel.rdma.message.RdmaOperationException;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.example.rdma.requests.Requests.SendRequests;
import io.netty.example.rdma.requests.Responses.AtomicResponses;
import io.netty.example.rdma.requests.Responses.ReadResponses;
import io.netty.example.rdma.requests.Responses.WriteResponses;
import io.netty.example.rdma.requests.TextEnd.TextRequester;
import io.netty.example.rdma.requests.TextEnd.TextResponder;
import io.netty.example.rdma.verbs.EndPair;
import io.netty.example.rdma.verbs.EndPair.Way;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(180)
class OperationTest {
    private static final int SIZE = 5_003;
    /** Several rounds, of which the last is not full. */
    private static final int COUNT = 3 * Blocks.COUNT + 5;
    /** A request of the last round. */
    private static final int LATE = COUNT - 2;

    @TempDir
    private Path folder;

    private static Stream<Object[]> operationsInEachWay() {
        return Arrays.stream(Way.values())
                .flatMap(way -> Arrays.stream(Operation.values()).map(operation -> new Object[] {operation, way}));
    }

    @ParameterizedTest
    @MethodSource("operationsInEachWay")
    void everyRequestIsRightAtBothEnds(Operation operation, Way way) throws Exception {
        assertThat(wrong(way, operation.requester(SIZE, COUNT, null), operation.responder(SIZE, COUNT, null)))
                .containsExactly(0, 0);
    }

    @ParameterizedTest
    @EnumSource(names = {"READ", "WRITE", "WRITE_IMM", "SEND", "SEND_IMM", "SEND_LIST", "OFFER"})
    void oneByteIsEnough(Operation operation) throws Exception {
        assertThat(wrong(Way.CONNECTION_MANAGER, operation.requester(1, 1, null), operation.responder(1, 1, null)))
                .containsExactly(0, 0);
    }

    @Test
    void readerNoticesOneWrongBit() throws Exception {
        Responses corrupted = new ReadResponses(SIZE) {
            @Override
            void prepare(long first, int count) {
                super.prepare(first, count);
                if (first <= LATE && LATE < first + count) {
                    flip(blocks.buf(), (int) Blocks.offset(LATE, SIZE));
                }
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, Operation.READ.requester(SIZE, COUNT, null),
                new ResponderEnd(Operation.READ, corrupted, SIZE, COUNT, null))).containsExactly(1, 0);
    }

    @Test
    void ownerOfMemoryNoticesOneWrongBitAndTellsTheWriter() throws Exception {
        Responses corrupted = new WriteResponses(SIZE, false) {
            @Override
            int wrong(long first, int count) {
                if (first <= LATE && LATE < first + count) {
                    flip(blocks.buf(), (int) Blocks.offset(LATE, SIZE) + SIZE - 1);
                }
                return super.wrong(first, count);
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, Operation.WRITE.requester(SIZE, COUNT, null),
                new ResponderEnd(Operation.WRITE, corrupted, SIZE, COUNT, null))).containsExactly(1, 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void receiverNoticesOneWrongBit(boolean immediate) throws Exception {
        Operation operation = immediate ? Operation.SEND_IMM : Operation.SEND;
        Requests corrupted = new SendRequests(SIZE, immediate) {
            @Override
            ByteBuf block(ByteBufAllocator allocator, long number) {
                ByteBuf block = super.block(allocator, number);
                if (number == LATE) {
                    flip(block, SIZE / 2);
                }
                return block;
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, new RequesterEnd(operation, corrupted, SIZE, COUNT, null),
                operation.responder(SIZE, COUNT, null))).containsExactly(1, 1);
    }

    @ParameterizedTest
    @EnumSource(names = {"FETCH_ADD", "COMPARE_SWAP"})
    void numberThatIsNotAsItShouldBeIsNoticedByBoth(Operation operation) throws Exception {
        Responses corrupted = new AtomicResponses(after -> 0) {
            @Override
            void prepare(long first, int count) {
                // In the byte order of the host, whichever that is, it is another number.
                flip(buf(), 3);
            }
        };
        int[] wrong = wrong(Way.CONNECTION_MANAGER, operation.requester(SIZE, 1, null),
                new ResponderEnd(operation, corrupted, Long.BYTES, 1, null));
        assertThat(wrong[0]).isEqualTo(2);
        assertThat(wrong[1]).isOne();
    }

    @Test
    void memoryThatIsOfferedWithTheRequestIsChecked() throws Exception {
        OfferRequester corrupted = new OfferRequester(SIZE) {
            @Override
            ByteBuf arrived() {
                flip(super.arrived(), SIZE - 1);
                return super.arrived();
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, corrupted, Operation.OFFER.responder(SIZE, 1, null)))
                .containsExactly(1, 0);
    }

    @Test
    void syncEventsAreAddedToAndSetAndGot() throws Exception {
        RdmaMessageMetrics before = RdmaMessageMetrics.total();
        wrong(Way.CONNECTION_MANAGER, Operation.SYNC_EVENT.requester(SIZE, COUNT, null),
                Operation.SYNC_EVENT.responder(SIZE, COUNT, null));
        RdmaMessageMetrics after = RdmaMessageMetrics.total();
        assertThat(after.atomics() - before.atomics()).isEqualTo(COUNT);
        assertThat(after.writes() - before.writes()).isEqualTo(COUNT);
        assertThat(after.reads() - before.reads()).isEqualTo(COUNT);
    }

    private static Stream<Object[]> mistakes() {
        Operation[] onMemory = {Operation.READ, Operation.WRITE, Operation.WRITE_IMM, Operation.FETCH_ADD};
        return Stream.of(
                mistakes(WorkCompletionStatus.REMOTE_ACCESS_ERROR, List.of(Mistake.KEY, Mistake.RANGE), onMemory),
                // InfiniBand Architecture Specification, volume 1, 9.7.5.2.8
                mistakes(WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR, List.of(Mistake.PERMISSION), onMemory),
                mistakes(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED
                        ? WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR
                        : WorkCompletionStatus.REMOTE_OPERATION_ERROR, // which soft-RoCE tells
                        List.of(Mistake.SHORT_RECEIVE), Operation.SEND, Operation.SEND_IMM),
                mistakes(WorkCompletionStatus.RNR_RETRY_EXCEEDED_ERROR, List.of(Mistake.NO_RECEIVE),
                        Operation.READ, Operation.WRITE, Operation.WRITE_IMM, Operation.SEND, Operation.SEND_IMM))
                .flatMap(some -> some);
    }

    private static Stream<Object[]> mistakes(int status, List<Mistake> mistakes, Operation... operations) {
        return mistakes.stream().flatMap(mistake -> Arrays.stream(operations)
                .map(operation -> new Object[] {operation, mistake, status}));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void mistakeEndsBoth(Operation operation, Mistake mistake, int status) throws Exception {
        VerbsEnd requester = operation.requester(SIZE, COUNT, mistake);
        VerbsEnd responder = operation.responder(SIZE, COUNT, mistake);
        try (EndPair pair = new EndPair()) {
            pair.connect(Way.CONNECTION_MANAGER, folder, List.of(responder), List.of(requester));
            assertThatThrownBy(() -> TestTimeouts.result(requester.result())).cause()
                    .isInstanceOfSatisfying(RdmaOperationException.class, e ->
                            assertThat(WorkCompletionStatus.describe(e.status()))
                                    .isEqualTo(WorkCompletionStatus.describe(status)));
            assertThatThrownBy(() -> TestTimeouts.result(responder.result())).isInstanceOf(ExecutionException.class);
        }
    }

    @Test
    void endsOfDifferentSizesDoNotBegin() throws Exception {
        VerbsEnd requester = Operation.WRITE.requester(SIZE, COUNT, null);
        VerbsEnd responder = Operation.WRITE.responder(SIZE - 1, COUNT, null);
        try (EndPair pair = new EndPair()) {
            pair.connect(Way.CONNECTION_MANAGER, folder, List.of(responder), List.of(requester));
            for (VerbsEnd end : List.of(requester, responder)) {
                assertThatThrownBy(() -> TestTimeouts.result(end.result())).isInstanceOf(ExecutionException.class);
            }
        }
    }

    private static Stream<Object[]> textsInEachWay() {
        return operationsInEachWay().filter(both -> ((Operation) both[0]).isText());
    }

    @ParameterizedTest
    @MethodSource("textsInEachWay")
    void textIsMovedAsAWhole(Operation operation, Way way) throws Exception {
        String text = "\u00e4 long one ".repeat(300);
        boolean isRead = operation == Operation.READ_TEXT;
        TextEnd requester = new TextRequester(operation, isRead ? "not this one" : text);
        TextEnd responder = new TextResponder(operation, isRead ? text : "not this one");
        try (EndPair pair = new EndPair()) {
            pair.connect(way, folder, List.of(responder), List.of(requester));
            for (TextEnd end : List.of(requester, responder)) {
                Result result = TestTimeouts.result(end.result());
                assertThat(result.wrong()).isZero();
                assertThat(result.bytes()).isEqualTo(text.getBytes(StandardCharsets.UTF_8).length);
            }
            assertThat((isRead ? requester : responder).told()).isEqualTo(text);
            assertThat((isRead ? responder : requester).told()).isEmpty();
        }
    }

    @Test
    void textIsNotForTheTerminalToObey() {
        assertThat(TextEnd.printable("a\u001b[2Jb\nc")).isEqualTo("a?[2Jb?c");
    }

    @Test
    void textThatIsTooLongIsRefused() {
        assertThatThrownBy(() -> new TextRequester(Operation.SEND_TEXT, "x".repeat(4097)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("4097 bytes");
    }

    private static void flip(ByteBuf data, int index) {
        data.setByte(index, data.getByte(index) ^ 0x10);
    }

    /** Runs both to their end: how many requests each has found wrong. */
    private int[] wrong(Way way, VerbsEnd requester, VerbsEnd responder) throws Exception {
        try (EndPair pair = new EndPair()) {
            pair.connect(way, folder, List.of(responder), List.of(requester));
            return new int[] {(int) TestTimeouts.result(requester.result()).wrong(),
                    (int) TestTimeouts.result(responder.result()).wrong()};
        }
    }
}
