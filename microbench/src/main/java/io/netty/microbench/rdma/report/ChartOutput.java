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

import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Shows charts: on the standard output, and on request in a file. A mixin of commands that compare.
 */
public final class ChartOutput {
    @Option(names = "--plot", paramLabel = "FILE", description = "Draw the figures to this SVG file too.")
    private Path plot;

    /** Shows a chart. The last line is the path of the file. */
    public void show(Chart chart) throws IOException {
        if (chart.whom().isEmpty()) {
            return;
        }
        System.out.println();
        System.out.print(new TerminalChart(chart, Terminal.standardOutput()).draw());
        if (plot != null) {
            System.out.println();
            System.out.println(write(chart));
        }
    }

    private String write(Chart chart) throws IOException {
        Path file = plot.toAbsolutePath().normalize();
        Files.createDirectories(file.getParent());
        try {
            BarPlot.ofRatios(chart).write(file);
            return "Plot: " + file;
        } catch (InternalError | LinkageError e) {
            // Java's font code throws this error without fontconfig, fonts, or libfreetype.
            return "No plot: Java can't draw letters here (" + e + "). On Debian, install the package fontconfig.";
        }
    }
}
