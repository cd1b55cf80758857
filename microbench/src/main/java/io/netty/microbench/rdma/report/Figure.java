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
package io.netty.microbench.rdma.report;

import com.fasterxml.jackson.annotation.JsonValue;
import io.netty.example.rdma.util.Figures;
import io.netty.example.rdma.util.Measurement;

import java.util.Locale;

/**
 * Figures of a scenario. The names are those in {@code results.json}.
 */
public enum Figure {
    P50("p50", "µs", 1e3, false),
    P99("p99", "µs", 1e3, false),
    P999("p99.9", "µs", 1e3, false),
    /** Time from the due times of operations to their starts, which is a part of their latency. */
    LATENESS_P50("p50 of lateness", "µs", 1e3, false),
    LATENESS_P99("p99 of lateness", "µs", 1e3, false),
    /** Operations of the scenario a second. */
    OPERATIONS("operations", "thousand/s", 1e3, true),
    /** Bytes a second. */
    BYTES("bytes", "GB/s", 1e9, true),
    /** Processor time of both processes an operation, in nanoseconds. */
    CPU_PER_OPERATION("cpu per operation", "µs", 1e3, false),
    /** Processor time of both processes for 10^9 bytes, in nanoseconds. */
    CPU_PER_GIGABYTE("cpu per gigabyte", "ms", 1e6, false),
    /** Bytes that both virtual machines allocate on their heaps for an operation. */
    ALLOCATED("allocated", "B", 1, false),
    /** Processor time of one process an operation, or a byte if bytes are counted, in nanoseconds. */
    CLIENT_COST("client cost", "ns", 1, false),
    SERVER_COST("server cost", "ns", 1, false),
    /** Growth of the memory of a process with each connection, in bytes; only the live part of its heap counts. */
    SERVER_MEMORY("server memory", "KiB", 1024, false),
    CLIENT_MEMORY("client memory", "KiB", 1024, false),
    /** Processor time as a share of the elapsed time; 1 is a core. */
    SERVER_CPU("server cpu", "% of a core", 0.01, false),
    CLIENT_CPU("client cpu", "% of a core", 0.01, false);

    private final String name;
    private final String unit;
    private final double inUnit;
    private final boolean more;

    Figure(String name, String unit, double inUnit, boolean more) {
        this.name = name;
        this.unit = unit;
        this.inUnit = inUnit;
        this.more = more;
    }

    /** Unit that is shown to users. */
    public String unit() {
        return unit;
    }

    /** Value of a reading in that unit. */
    public double inUnit(double value) {
        return value / inUnit;
    }

    /** Returns a value for users, in that unit, with no more digits than are exact. */
    public String format(double value) {
        double shown = inUnit(value);
        return String.format(Locale.ROOT, shown > 0 && shown < 0.1 ? "%.3f" : shown < 10 ? "%.2f"
                : shown < 100 ? "%.1f" : "%.0f", shown);
    }

    /** Returns a rate for users, as comparisons show it: a number, or millions of bytes. */
    public String perSecond(double rate) {
        return Figures.perSecond(rate, this == BYTES ? Measurement.Unit.BYTES : Measurement.Unit.OPERATIONS);
    }

    /** Returns whether more is better. */
    public boolean isMoreBetter() {
        return more;
    }

    /** Returns the name in {@code results.json} and for users. */
    @Override
    @JsonValue
    public String toString() {
        return name;
    }
}
