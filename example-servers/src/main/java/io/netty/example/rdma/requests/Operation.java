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

import io.netty.example.rdma.requests.Requests.AtomicRequests;
import io.netty.example.rdma.requests.Requests.ListRequests;
import io.netty.example.rdma.requests.Requests.ReadRequests;
import io.netty.example.rdma.requests.Requests.SendRequests;
import io.netty.example.rdma.requests.Requests.WriteRequests;
import io.netty.example.rdma.requests.Responses.AtomicResponses;
import io.netty.example.rdma.requests.Responses.ReadResponses;
import io.netty.example.rdma.requests.Responses.SendResponses;
import io.netty.example.rdma.requests.Responses.WriteResponses;
import io.netty.example.rdma.requests.SyncEventEnd.SyncEventRequester;
import io.netty.example.rdma.requests.SyncEventEnd.SyncEventResponder;
import io.netty.example.rdma.requests.TextEnd.TextRequester;
import io.netty.example.rdma.requests.TextEnd.TextResponder;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.util.Locale;
import java.util.function.IntFunction;

/**
 * An operation of a requester, and the classes of its two ends.
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
    /** Sync events: adds to the responder's event, and sets the requester's. Not in rounds. */
    SYNC_EVENT((size, count) -> new SyncEventRequester(count), (size, count) -> new SyncEventResponder(count)),
    /** The requester reads a text of the responder. */
    READ_TEXT,
    /** The requester writes a text, and tells its length in a message. */
    WRITE_TEXT,
    /** The requester writes a text, and tells its length in the immediate data. */
    WRITE_IMM_TEXT,
    /** The requester sends a text. */
    SEND_TEXT,
    /** The requester sends a text, and its length in the immediate data. */
    SEND_IMM_TEXT;

    /** Maximum size of a request, in bytes. */
    static final int MAX_SIZE = 1 << 20;

    /** Make the parts of an operation in rounds; {@code null} for other operations. */
    private final IntFunction<Requests> requests;
    private final IntFunction<Responses> responses;
    /** Make the ends of an operation that is not in rounds; {@code null} for other operations. */
    private final EndFactory requester;
    private final EndFactory responder;

    @FunctionalInterface
    private interface EndFactory {
        VerbsEnd newEnd(int size, long count);
    }

    /** Creates an operation that moves one text. */
    Operation() {
        this(null, null, null, null);
    }

    Operation(IntFunction<Requests> requests, IntFunction<Responses> responses) {
        this(requests, responses, null, null);
    }

    Operation(EndFactory requester, EndFactory responder) {
        this(null, null, requester, responder);
    }

    Operation(IntFunction<Requests> requests, IntFunction<Responses> responses, EndFactory requester,
              EndFactory responder) {
        this.requests = requests;
        this.responses = responses;
        this.requester = requester;
        this.responder = responder;
    }

    /** Number of bytes that each request moves. */
    int size(int chosen) {
        return this == COMPARE_SWAP || this == FETCH_ADD || this == SYNC_EVENT ? Long.BYTES : chosen;
    }

    /** Returns whether the operation moves one text, and no blocks. */
    boolean isText() {
        return name().endsWith("_TEXT");
    }

    /** @param mistake {@code null} for none; only for operations in rounds */
    VerbsEnd requester(int size, long count, Mistake mistake) {
        return isText() ? new TextRequester(this, TextEnd.DEFAULT)
                : requester != null ? requester.newEnd(size, count)
                : new RequesterEnd(this, requests.apply(size), size(size), count, mistake);
    }

    /** Creates the responder, with parameters as {@link #requester}. */
    VerbsEnd responder(int size, long count, Mistake mistake) {
        return isText() ? new TextResponder(this, TextEnd.DEFAULT)
                : responder != null ? responder.newEnd(size, count)
                : new ResponderEnd(this, responses.apply(size), size(size), count, mistake);
    }

    /** Settings that both ends must share. */
    String program(int size, long count) {
        return this + ", " + count + " x " + size + " bytes";
    }

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
