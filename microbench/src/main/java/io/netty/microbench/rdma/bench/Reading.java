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
package io.netty.microbench.rdma.bench;

/**
 * One measured value.
 *
 * @param round    from 1. Readings of a round are minutes apart, those of different rounds more
 * @param subject  what was measured: a transport and how it waits, or {@link Subjects#LIMIT}
 * @param scenario what was done, in words
 * @param figure   of which the value is one
 * @param value    nanoseconds, bytes, a number a second or a share: see {@link Figure}
 * @param state    {@link #SETTLED}, or in a word why this is not the value of a steady state, and does not count
 */
public record Reading(int round, String subject, String scenario, Figure figure, double value, String state) {
    /** The state of a value that counts. */
    public static final String SETTLED = "settled";

    /** Of what needs not settle. */
    public Reading(int round, String subject, String scenario, Figure figure, double value) {
        this(round, subject, scenario, figure, value, SETTLED);
    }

    boolean counts() {
        return state.equals(SETTLED);
    }
}
