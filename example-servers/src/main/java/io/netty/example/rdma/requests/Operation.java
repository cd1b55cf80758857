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

/**
 * Operation of a requester, and its two ends.
 */
public enum Operation {
    READ {
        @Override
        Requests requests(int size) {
            return new ReadRequests(size);
        }

        @Override
        Responses responses(int size) {
            return new ReadResponses(size);
        }
    },
    WRITE {
        @Override
        Requests requests(int size) {
            return new WriteRequests(size, false);
        }

        @Override
        Responses responses(int size) {
            return new WriteResponses(size, false);
        }
    },
    WRITE_IMM {
        @Override
        Requests requests(int size) {
            return new WriteRequests(size, true);
        }

        @Override
        Responses responses(int size) {
            return new WriteResponses(size, true);
        }
    },
    SEND {
        @Override
        Requests requests(int size) {
            return new SendRequests(size, false);
        }

        @Override
        Responses responses(int size) {
            return new SendResponses(size, false, false);
        }
    },
    SEND_IMM {
        @Override
        Requests requests(int size) {
            return new SendRequests(size, true);
        }

        @Override
        Responses responses(int size) {
            return new SendResponses(size, true, false);
        }
    },
    SEND_LIST {
        @Override
        Requests requests(int size) {
            return new ListRequests(size);
        }

        @Override
        Responses responses(int size) {
            return new SendResponses(size, false, true);
        }
    },
    COMPARE_SWAP {
        @Override
        Requests requests(int size) {
            return new AtomicRequests.CompareAndSwap();
        }

        @Override
        Responses responses(int size) {
            return new AtomicResponses(new AtomicRequests.CompareAndSwap()::before);
        }

        @Override
        int size(int chosen) {
            return Long.BYTES;
        }
    },
    FETCH_ADD {
        @Override
        Requests requests(int size) {
            return new AtomicRequests.FetchAndAdd();
        }

        @Override
        Responses responses(int size) {
            return new AtomicResponses(new AtomicRequests.FetchAndAdd()::before);
        }

        @Override
        int size(int chosen) {
            return Long.BYTES;
        }
    },
    /** One write, into memory that the requester offers with its connect request. */
    OFFER {
        @Override
        VerbsEnd requester(int size, long count, Mistake mistake) {
            return new OfferRequester(size);
        }

        @Override
        VerbsEnd responder(int size, long count, Mistake mistake) {
            return new OfferResponder(size);
        }
    },
    /** A write into memory that each request lends, by a memory window. */
    LEND {
        @Override
        VerbsEnd requester(int size, long count, Mistake mistake) {
            return new LendRequester(size, count);
        }

        @Override
        VerbsEnd responder(int size, long count, Mistake mistake) {
            return new LendResponder(size, count);
        }
    },
    /** Not in rounds. */
    SYNC_EVENT {
        @Override
        int size(int chosen) {
            return Long.BYTES;
        }

        @Override
        VerbsEnd requester(int size, long count, Mistake mistake) {
            return new SyncEventRequester(count);
        }

        @Override
        VerbsEnd responder(int size, long count, Mistake mistake) {
            return new SyncEventResponder(count);
        }
    },
    /** The requester reads a text of the responder. */
    READ_TEXT,
    /** The requester writes a text, and tells its length in a message. */
    WRITE_TEXT,
    /** The requester writes a text, and tells its length in the immediate data. */
    WRITE_IMM_TEXT,
    /** The requester sends a text. */
    SEND_TEXT,
    /** As above, and its length is in the immediate data, too. */
    SEND_IMM_TEXT;

    /** Maximum size of a request, in bytes. */
    static final int MAX_SIZE = 1 << 20;

    /** The requester's part of an operation in rounds. */
    Requests requests(int size) {
        throw new UnsupportedOperationException(this + " is not in rounds");
    }

    /** The responder's part of an operation in rounds. */
    Responses responses(int size) {
        throw new UnsupportedOperationException(this + " is not in rounds");
    }

    /** Number of bytes that each request moves. */
    int size(int chosen) {
        return chosen;
    }

    /** Returns whether it moves one text, and not blocks. */
    final boolean isText() {
        return name().endsWith("_TEXT");
    }

    /** @param mistake {@code null} for none. Of operations in rounds only. */
    VerbsEnd requester(int size, long count, Mistake mistake) {
        return isText() ? new TextRequester(this, TextEnd.DEFAULT)
                : new RequesterEnd(this, requests(size), size(size), count, mistake);
    }

    /** As above. */
    VerbsEnd responder(int size, long count, Mistake mistake) {
        return isText() ? new TextResponder(this, TextEnd.DEFAULT)
                : new ResponderEnd(this, responses(size), size(size), count, mistake);
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
