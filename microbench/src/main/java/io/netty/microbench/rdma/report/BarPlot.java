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
import org.knowm.xchart.AnnotationText;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler;

import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Draws bars, side by side in each category, to an SVG file. The axis is logarithmic, so that equal ratios have equal
 * heights.
 */
public final class BarPlot {
    private static final int BAR_WIDTH = 40;
    /** Approximate width of a bold letter of the names of categories. */
    private static final int LETTER_WIDTH = 8;
    /** Width of the legend and the axis. */
    private static final int MARGIN = 220;
    private static final int MIN_WIDTH = 900;
    private static final int HEIGHT = 420;
    private static final double DECADE = 10;
    /** Share of its room that a category fills. */
    private static final double FILL = 0.9;
    /** The height of a line of text, in parts of the axis. */
    private static final double LINE = 0.04;
    private static final double LABEL_POSITION = 0.96;
    private static final Font SMALL = new Font(Font.SANS_SERIF, Font.PLAIN, 9);
    private static final Pattern DECIMALS = Pattern.compile("(\\.\\d)\\d+");
    /** Colours of the modes. Similar modes have similar colours. */
    private static final Map<String, Color> COLOURS = Map.ofEntries(
            entry("rdma", 0x1f77b4), entry("rdma polling", 0x6baed6), entry("rdma sleeping", 0x08306b),
            entry("epoll", 0xd95f02), entry("epoll polling", 0xfdae6b), entry("unix", 0x238b45),
            entry("unix polling", 0x74c476), entry("io_uring", 0x756bb1), entry("nio", 0x969696),
            entry("limit", 0x252525), entry("ib_send_lat", 0x252525), entry("ib_write_lat", 0x636363),
            entry("ib_send_bw", 0x252525), entry("ib_write_bw", 0x636363), entry("rstream (mean)", 0x756bb1));
    private static final List<Color> OTHERS = List.of(new Color(0x1f77b4), new Color(0x6baed6), new Color(0x08306b),
            new Color(0x238b45), new Color(0x74c476), new Color(0xd95f02), new Color(0xfdae6b), new Color(0x756bb1));

    private final CategoryChart plot;
    private final List<Color> colours = new ArrayList<>();

    /**
     * Creates a plot without bars.
     *
     * @param axis  title of the axis
     * @param floor beginning of the axis: a power of ten
     */
    private BarPlot(String title, String axis, int width, double floor) {
        plot = new CategoryChartBuilder().width(width).height(HEIGHT).title(title).yAxisTitle(axis).build();
        CategoryStyler axes = plot.getStyler();
        axes.setYAxisLogarithmic(true);
        axes.setYAxisMin(floor);
        axes.setAvailableSpaceFill(FILL);
        axes.setLegendPosition(Styler.LegendPosition.OutsideE);
        axes.setChartBackgroundColor(Color.WHITE);
        axes.setPlotGridVerticalLinesVisible(false);
    }

    /** Plots the figures of a chart. A row without a figure has no bar. */
    public static BarPlot ofFigures(Chart chart) {
        double min = chart.groups().stream().flatMap(group -> group.bars().stream()).filter(Bar::hasFigure)
                .mapToDouble(Bar::length).min().orElse(1);
        double floor = Math.pow(DECADE, Math.floor(Math.log10(min)));
        BarPlot plot = new BarPlot(chart.title(), chart.figure(), MIN_WIDTH, floor);
        plot.add(chart, bar -> bar == null ? null : Math.max(floor, bar.length()));
        return plot;
    }

    /**
     * Plots how many times better than its base the figures of a chart are, also as numbers in the bars. A bar without
     * a figure, or that had not settled, says so.
     */
    static BarPlot ofRatios(Chart chart) {
        List<Group> groups = chart.groups();
        DoubleSummaryStatistics ratios = groups.stream().flatMap(group -> group.bars().stream())
                .mapToDouble(Bar::ratio).filter(Double::isFinite).summaryStatistics();
        double floor = ratios.getCount() == 0 ? 1 : Math.pow(DECADE, Math.ceil(Math.log10(ratios.getMin())) - 1);
        int groupWidth = Math.max(BAR_WIDTH * chart.whom().size(),
                LETTER_WIDTH * groups.stream().mapToInt(group -> group.name().length()).max().orElse(0));
        String axis = "times better than " + chart.base();
        BarPlot plot = new BarPlot(chart.title() + ": how many " + axis,
                axis + (chart.hasMarks() ? " (?: had not settled)" : ""),
                Math.max(MIN_WIDTH, MARGIN + groupWidth * groups.size()), floor);
        plot.labelBars();
        plot.add(chart, BarPlot::height);
        double step = Math.pow(Math.max(DECADE, ratios.getMax() / floor), LINE);
        List<String> whom = List.copyOf(chart.whom());
        for (int g = 0; g < groups.size(); g++) {
            for (int i = 0; i < whom.size(); i++) {
                Bar bar = groups.get(g).bar(whom.get(i));
                double x = g + (1 - FILL) / 2 + FILL * (i + 0.5) / whom.size();
                if (bar != null && height(bar) == null) {
                    plot.annotate("not", x, floor * step * step);
                    plot.annotate(bar.hasFigure() ? "known" : "settled", x, floor * step);
                } else if (bar != null && !bar.mark().isEmpty()) {
                    plot.annotate(bar.mark().trim(), x, floor * step);
                }
            }
        }
        return plot;
    }

    private static Double height(Bar bar) {
        if (bar == null || !Double.isFinite(bar.ratio())) {
            return null;
        }
        // The bar shows as many digits.
        return bar.ratio() < 1 ? BigDecimal.valueOf(bar.ratio()).round(new MathContext(2)).doubleValue()
                : Math.round(bar.ratio() * DECADE) / DECADE;
    }

    private void labelBars() {
        plot.getStyler().setLabelsVisible(true);
        plot.getStyler().setLabelsPosition(LABEL_POSITION);
        plot.getStyler().setDecimalPattern("#.####");
        plot.getStyler().setAnnotationTextFont(SMALL);
    }

    /** Adds a text. On the axis, the distance of two categories is 1. */
    private void annotate(String text, double x, double y) {
        plot.addAnnotation(new AnnotationText(text, x, y, false));
    }

    private void add(Chart chart, Function<Bar, Double> height) {
        List<String> names = chart.groups().stream().map(Group::name).toList();
        for (String who : chart.whom()) {
            plot.addSeries(who, names,
                    chart.groups().stream().map(group -> height.apply(group.bar(who))).toList());
            colours.add(COLOURS.getOrDefault(who, OTHERS.get(colours.size() % OTHERS.size())));
        }
    }

    private static Map.Entry<String, Color> entry(String who, int rgb) {
        return Map.entry(who, new Color(rgb));
    }

    /** Writes the plot to an SVG file. */
    public void write(Path file) throws IOException {
        plot.getStyler().setSeriesColors(colours.toArray(new Color[0]));
        VectorGraphicsEncoder.saveVectorGraphic(plot, file.toString(), VectorGraphicsFormat.SVG);
        // Letters are paths, whose points have twelve decimals of a pixel. Most of the decimals are cut off.
        Files.writeString(file, DECIMALS.matcher(Files.readString(file)).replaceAll("$1"));
    }
}
