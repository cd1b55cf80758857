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

/**
 * Rules for the failure of a candidate: whether the next one is tried, and whether the failed one is passed over for
 * some time.
 * <table>
 * <caption>By failure</caption>
 * <tr><th>failure</th><th>{@link #PROVIDERS}</th><th>{@link #TRANSPORTS}</th></tr>
 * <tr><td>{@code REFUSED}, {@code NO_ROUTE}</td><td>next</td><td>next, remembered</td></tr>
 * <tr><td>{@code TIMEOUT}</td><td>next, remembered; then tried once more in the time that is left</td>
 *     <td>next, remembered</td></tr>
 * <tr><td>{@code NETWORK}</td><td>next; remembered if it took long</td><td>next; remembered if it took long</td></tr>
 * <tr><td>{@code VERSION}</td><td>next</td><td>next</td></tr>
 * <tr><td>{@code REJECTED}, {@code OTHER}</td><td>the connect fails</td><td>next; {@code OTHER} remembered if it took
 *     long</td></tr>
 * </table>
 * "Long" is half of the time for an attempt.
 */
public enum AttemptRules {
    /**
     * Shared memory, then a device. If no process listens, the kernel of this host tells at once. So remembering it
     * saves nothing, and the next connect finds a new listener. If there is no answer, a listener has the request. It
     * may still answer when the attempt by a device has failed. A rejection is an answer. Two ends whose library
     * versions can't use shared memory with each other can use a device.
     */
    PROVIDERS,

    /** RDMA, then TCP. A server that has only TCP refuses RDMA each time, so a refusal is remembered. */
    TRANSPORTS;

    boolean triesNext(AttemptFailure failure) {
        return this == TRANSPORTS || failure != AttemptFailure.REJECTED && failure != AttemptFailure.OTHER;
    }

    boolean remembers(AttemptFailure failure, boolean tookLong) {
        return switch (failure) {
        case TIMEOUT -> true;
        case REFUSED, NO_ROUTE -> this == TRANSPORTS;
        // The peer's answer may be different next time.
        case REJECTED, VERSION -> false;
        default -> tookLong;
        };
    }

    /** Returns whether a missing answer means that a listener exists. */
    boolean isSilenceOfAListener() {
        return this == PROVIDERS;
    }
}
