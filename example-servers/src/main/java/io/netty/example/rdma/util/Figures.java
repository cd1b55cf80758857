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
package io.netty.example.rdma.util;

import java.util.Locale;

/**
 * Writes figures for people.
 */
public final class Figures {
    private Figures() {
    }

    public static String micros(double nanos) {
        return String.format(Locale.ROOT, nanos < 100_000 ? "%.1f" : "%.0f", nanos / 1e3);
    }

    public static String perSecond(double rate, Measurement.Unit unit) {
        return unit == Measurement.Unit.BYTES ? String.format(Locale.ROOT, "%.0f MB", rate / 1e6)
                : String.format(Locale.ROOT, "%.0f", rate);
    }

    /** A size in bytes. */
    public static String size(int bytes) {
        return bytes < 1 << 10 ? bytes + " B" : bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
    }
}
