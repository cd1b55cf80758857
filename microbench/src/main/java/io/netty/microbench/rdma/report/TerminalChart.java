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

import io.netty.microbench.rdma.report.Chart.Bar;
import io.netty.microbench.rdma.report.Chart.Group;

import java.util.Locale;

/**
 * Draws a chart of characters. In each group, the longest bar fills the available width.
 */
public final class TerminalChart {
    /** One to eight eighths of a character. */
    static final String BLOCKS = "\u258f\u258e\u258d\u258c\u258b\u258a\u2589\u2588";
    private static final int EIGHTHS = BLOCKS.length();
    private static final String INDENTATION = "  ";
    private static final int MIN_BAR = 10;
    /** Colour of the palette of every terminal with colours, so that users who have changed it get their own. */
    private static final String BLUE = "\u001b[34m";
    private static final String YELLOW = "\u001b[33m";
    private static final String DEFAULT_COLOUR = "\u001b[39m";

    private final Chart chart;
    private final Terminal terminal;
    private final int nameWidth;
    private final int textWidth;
    private final int ratioWidth;
    private final int barWidth;

    public TerminalChart(Chart chart, Terminal terminal) {
        this.chart = chart;
        this.terminal = terminal;
        nameWidth = chart.whom().stream().mapToInt(String::length).max().orElse(0);
        textWidth = width(false);
        ratioWidth = width(true);
        barWidth = Math.max(MIN_BAR, terminal.columns() - INDENTATION.length() - nameWidth - 1 - 1 - textWidth
                - (ratioWidth == 0 ? 0 : 1 + ratioWidth));
    }

    private int width(boolean ofRatio) {
        return chart.groups().stream().flatMap(group -> group.bars().stream()).filter(Bar::hasFigure)
                .mapToInt(bar -> (ofRatio ? ratio(bar) : text(bar)).length()).max().orElse(0);
    }

    /** Returns the lines of the chart, each with a line separator. */
    public String draw() {
        StringBuilder text = new StringBuilder(chart.title() + ": " + chart.figure() + "; x: times better than "
                + chart.base() + (chart.hasMarks() ? "; ?: had not settled" : "") + '\n');
        for (Group group : chart.groups()) {
            text.append('\n').append(group.name()).append('\n');
            double longest = group.bars().stream().mapToDouble(Bar::length).max().orElse(0);
            for (Bar bar : group.bars()) {
                text.append(INDENTATION).append(padded(bar.who(), nameWidth)).append(' ')
                        .append(bar.hasFigure() ? drawn(bar, longest) : bar.text()).append('\n');
            }
        }
        return text.toString();
    }

    private String drawn(Bar bar, double longest) {
        String drawn = bar(bar.length() / longest);
        return coloured(bar.who(), drawn) + " ".repeat(barWidth - drawn.length()) + ' '
                + " ".repeat(textWidth - text(bar).length()) + text(bar)
                + (ratio(bar).isEmpty() ? "" : ' ' + " ".repeat(ratioWidth - ratio(bar).length()) + ratio(bar));
    }

    /** Returns a bar, at least a small part of which is visible. */
    private String bar(double part) {
        if (!terminal.isUnicode()) {
            return "#".repeat(Math.max(1, (int) Math.round(part * barWidth)));
        }
        int eighths = Math.max(1, (int) Math.round(part * barWidth * EIGHTHS));
        String whole = BLOCKS.substring(EIGHTHS - 1).repeat(eighths / EIGHTHS);
        return eighths % EIGHTHS == 0 ? whole : whole + BLOCKS.charAt(eighths % EIGHTHS - 1);
    }

    private String coloured(String who, String drawn) {
        String colour = !terminal.isColoured() ? null : who.startsWith("rdma") ? BLUE
                : who.startsWith("epoll") ? YELLOW : null;
        return colour == null ? drawn : colour + drawn + DEFAULT_COLOUR;
    }

    /** Returns the text behind a bar. Marks have a column of their own, so that figures are aligned. */
    private String text(Bar bar) {
        return bar.text() + (chart.hasMarks() ? padded(bar.mark(), Remarks.MARK.length()) : "");
    }

    private static String ratio(Bar bar) {
        return Double.isNaN(bar.ratio()) ? "" : String.format(Locale.ROOT, "%.1f x", bar.ratio());
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(width - text.length());
    }
}
