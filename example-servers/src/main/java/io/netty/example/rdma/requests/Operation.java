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

import io.netty.example.rdma.verbs.VerbsEnd;

import java.util.Locale;
import java.util.function.IntFunction;

/**
 * Operation of a requester, and its two ends.
 */
public enum Operation {
    READ(ReadRequests::new, ReadResponses::new),
    WRITE(size -> new WriteRequests(size, false), size -> new WriteResponses(size, false)),
    WRITE_IMM(size -> new WriteRequests(size, true), size -> new WriteResponses(size, true)),
    SEND(size -> new SendRequests(size, false), size -> new SendResponses(size, false, false)),
    SEND_IMM(size -> new SendRequests(size, true), size -> new SendResponses(size, true, false)),
    SEND_LIST(ListRequests::new, size -> new SendResponses(size, false, true)),
    COMPARE_SWAP(size -> new AtomicRequests.CompareAndSwap(),
            size -> new AtomicResponses(new AtomicRequests.CompareAndSwap()::before)),
    FETCH_ADD(size -> new AtomicRequests.FetchAndAdd(),
            size -> new AtomicResponses(new AtomicRequests.FetchAndAdd()::before)),
    /** One write, into memory that the requester offers with its connect request. */
    OFFER((size, count) -> new OfferRequester(size), (size, count) -> new OfferResponder(size)),
    /** A write into memory that each request lends, by a memory window. */
    LEND(LendRequester::new, LendResponder::new),
    /** Not in rounds. */
    SYNC_EVENT((size, count) -> new SyncEventRequester(count), (size, count) -> new SyncEventResponder(count)),
    /** A text each way, once. */
    TEXT((size, count) -> new TextRequester("This is the requester."),
            (size, count) -> new TextResponder("This is the responder."));

    /** Maximum size of a request, in bytes. */
    static final int MAX_SIZE = 1 << 20;

    /** Makes the parts of an operation in rounds; {@code null} for another one. */
    private final IntFunction<Requests> requests;
    private final IntFunction<Responses> responses;
    /** Makes the ends of an operation that is not in rounds; {@code null} for another one. */
    private final EndFactory requester;
    private final EndFactory responder;

    @FunctionalInterface
    private interface EndFactory {
        VerbsEnd newEnd(int size, long count);
    }

    Operation(IntFunction<Requests> requests, IntFunction<Responses> responses) {
        this.requests = requests;
        this.responses = responses;
        requester = null;
        responder = null;
    }

    Operation(EndFactory requester, EndFactory responder) {
        requests = null;
        responses = null;
        this.requester = requester;
        this.responder = responder;
    }

    /** Number of bytes that each request moves. */
    int size(int chosen) {
        return this == COMPARE_SWAP || this == FETCH_ADD || this == SYNC_EVENT ? Long.BYTES : chosen;
    }

    /** @param mistake {@code null} for none. Of operations on the responder's memory, but for sync events. */
    VerbsEnd requester(int size, long count, Mistake mistake) {
        return requester != null ? requester.newEnd(size, count)
                : new RequesterEnd(this, requests.apply(size).with(mistake), size(size), count);
    }

    VerbsEnd responder(int size, long count) {
        return responder != null ? responder.newEnd(size, count)
                : new ResponderEnd(this, responses.apply(size), size(size), count);
    }

    /** Settings that both ends must share. */
    String program(int size, long count) {
        return this + ", " + count + " x " + size + " bytes";
    }

    /** As written on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
