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
package io.netty.microbench.rdma.load;

import org.HdrHistogram.Histogram;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;

/**
 * Operations of one scenario in a stretch of time.
 *
 * @param nanos     length of the window, from the end of one operation to the end of another one
 * @param latencies latencies of all operations that ended in it, in nanoseconds
 * @param lateness  nanoseconds from the due times of operations to their starts; {@code null} for a closed load
 */
public record Window(long nanos, Histogram latencies, Histogram lateness) {
    /** Creates a window of a closed load. */
    public Window(long nanos, Histogram latencies) {
        this(nanos, latencies, null);
    }

    /**
     * Combines windows of several event loops at the same time. The rate is the sum of their rates.
     *
     * @param windows windows of closed loads, one or more
     */
    static Window together(List<Window> windows) {
        if (windows.size() == 1) {
            return windows.get(0);
        }
        Histogram latencies = new Histogram(windows.get(0).latencies.getNumberOfSignificantValueDigits());
        windows.forEach(window -> latencies.add(window.latencies));
        double rate = windows.stream().mapToDouble(Window::rate).sum();
        return new Window(Math.round(latencies.getTotalCount() * 1e9 / rate), latencies);
    }

    /** Number of operations that ended in it. */
    public long count() {
        return latencies.getTotalCount();
    }

    /** Rate in operations a second. */
    public double rate() {
        return count() * 1e9 / nanos;
    }

    /** Returns the text for {@link #parse}. */
    @Override
    public String toString() {
        return nanos + " " + encode(latencies) + (lateness == null ? "" : ' ' + encode(lateness));
    }

    private static String encode(Histogram histogram) {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        histogram.encodeIntoCompressedByteBuffer(buffer, Deflater.BEST_SPEED);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), buffer.position()));
    }

    private static Histogram decode(String encoded) throws DataFormatException {
        return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(encoded)), 0);
    }

    /**
     * Returns the window that was printed.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static Window parse(String text) {
        String[] words = text.split(" ");
        try {
            return new Window(Long.parseLong(words[0]), decode(words[1]),
                    words.length > 2 ? decode(words[2]) : null);
        } catch (DataFormatException | ArrayIndexOutOfBoundsException e) {
            throw new IllegalArgumentException("not a window: " + text, e);
        }
    }
}
