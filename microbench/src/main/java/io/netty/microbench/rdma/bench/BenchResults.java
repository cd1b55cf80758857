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

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.netty.microbench.rdma.process.Machine;
import io.netty.microbench.rdma.report.Reading;
import io.netty.microbench.rdma.report.Results;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * All measurements of a run, from which its tables and plots are made. They are the contents of {@code results.json}:
 *
 * <pre>
 * format    2, changed when the meaning of anything here changes
 * taken     beginning of the run, ISO 8601, UTC
 * plan      quick, default or full
 * rounds    number of rounds; a reading's round is from 1 to this number
 * machine   see {@link Machine}
 * readings  see {@link Reading}: each has round, subject, scenario, figure, value, state, and, if anything is known of
 *           its windows, windows. Nothing was averaged
 * missing   see {@link Missing}: each has subject, part, why
 * </pre>
 *
 * Times are nanoseconds, sizes bytes, rates a second. A share of a core is 1 for a whole core.
 */
public record BenchResults(int format, String taken, String plan, int rounds, Machine machine,
                           List<Reading> readings, List<Missing> missing) {
    /** The format of this version. */
    public static final int FORMAT = 2;

    private static final ObjectMapper MAPPER = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /**
     * Reads {@code results.json}.
     *
     * @throws IOException if it cannot be read, or is of another format
     */
    public static BenchResults read(Path file) throws IOException {
        BenchResults results = MAPPER.readValue(file.toFile(), BenchResults.class);
        if (results.format != FORMAT) {
            throw new IOException(file + ": of format " + results.format + ", not " + FORMAT);
        }
        return results;
    }

    /** Writes {@code results.json}. */
    public void write(Path file) throws IOException {
        MAPPER.writeValue(file.toFile(), this);
    }

    /** The figures that result from the readings. */
    Results results() {
        return new Results(readings);
    }

    /** Returns whether there is any figure in a section. */
    boolean isMeasured(Section section) {
        return readings.stream().anyMatch(reading -> reading.hasFigure() && reading.figure() == section.plotted()
                && section.scenarios().contains(reading.scenario()));
    }

    /**
     * A missing measurement.
     *
     * @param subject as in {@link Reading}
     * @param part    part of the run
     * @param why     reason in words
     */
    public record Missing(String subject, String part, String why) {
    }
}
