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

import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Reading;
import io.netty.microbench.rdma.report.Remarks;
import io.netty.microbench.rdma.report.Results;
import io.netty.microbench.rdma.report.Results.Of;
import io.netty.microbench.rdma.report.Spread;
import io.netty.microbench.rdma.report.Table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Writes results as tables.
 */
final class MarkdownReport {
    private final BenchResults run;
    private final Results results;

    MarkdownReport(BenchResults run) {
        this.run = run;
        results = run.results();
    }

    /** Returns a table of the most important figures: medians only, a column for each subject. */
    String writeSummary() {
        List<Section> sections = Section.all().stream().filter(Section::inSummary).toList();
        List<String> subjects = sections.stream().flatMap(section -> results.subjects(section.scenarios()).stream())
                .distinct().toList();
        List<String> header = new ArrayList<>(List.of("what"));
        header.addAll(subjects);
        Table table = new Table(header.toArray(new String[0]));
        for (Section section : sections) {
            for (String scenario : section.scenarios()) {
                List<String> row = new ArrayList<>(List.of(scenario + ": " + header(section.plotted())));
                subjects.forEach(subject -> row.add(median(subject, scenario, section.plotted())));
                table.row(row.toArray(new String[0]));
            }
        }
        return origin() + "\n" + writeTargets() + "\n## Medians\n\n\"?\": the rounds had not settled, or differ by "
                + "more than a factor of two from the median.\n\n" + table;
    }

    /** Returns the table of the goals and their results. */
    String writeTargets() {
        Table table = new Table("measure", "transport", "goal", "figure", "result");
        for (Goal goal : Goal.of(run)) {
            Goal.Outcome outcome = goal.in(run);
            table.row(goal.measure(), goal.ours().subject(), goal.text(), goal.figure(outcome), goal.verdict(outcome));
        }
        for (TableGoal goal : TableGoal.of(run)) {
            table.row(goal.measure(), goal.subject(), goal.text(), goal.figure(run), goal.verdict(run));
        }
        return """
                ## Targets

                Medians of the rounds, and the range over them; of ratios and differences, those of the same round.
                What is missed by a percentage is that far from the goal. Of a goal for many cells, the figure is that
                of the worst one. "Not settled": the rate jumped or compilers ran while it was measured, in more than
                half of the rounds of one of the two.

                """ + table;
    }

    /** Returns all tables, with links to their plots. */
    String write() {
        StringBuilder text = new StringBuilder(origin());
        text.append('\n').append(writeTargets()).append("""

                ## How to read the tables

                Medians of the rounds, and the range over all windows of some tenths of a second. "x epoll" and "x
                limit": how many times better than epoll as it waits by default, and than the limit, in the same
                round: median and range of that. Above 1 is better, whatever is counted. "Polling": event loops that
                never sleep. "?": more than half of the rounds had not settled, so that all count, or a round was more
                than a factor of two from the median. The range says how much of the figure is left.
                """);
        for (Section section : Section.all()) {
            List<String> subjects = results.subjects(section.scenarios());
            if (!subjects.isEmpty()) {
                text.append("\n## ").append(section.title()).append("\n\n").append(section.text()).append("\n\n");
                if (run.isMeasured(section)) {
                    text.append("![").append(section.title()).append("](").append(section.name())
                        .append(".svg)\n\n");
                }
                text.append(table(section, subjects));
            }
        }
        if (!run.missing().isEmpty()) {
            text.append("\n## Not measured\n\n").append(missing());
        }
        return text.toString();
    }

    /** Returns date, plan and machine of the run. */
    private String origin() {
        return run.taken().substring(0, "yyyy-mm-dd".length()) + ", plan " + run.plan() + ", "
                + run.rounds() + (run.rounds() == 1 ? " round" : " rounds") + ", on " + run.machine()
                + ".\n";
    }

    private String table(Section section, List<String> subjects) {
        List<Figure> figures = measured(section, subjects);
        boolean limited = subjects.contains(Goal.LIMIT) && subjects.size() > 1;
        boolean based = subjects.contains(Goal.BASE);
        List<String> header = new ArrayList<>(List.of("what", "transport",
                header(section.plotted()), "range"));
        figures.forEach(figure -> header.add(header(figure)));
        if (based) {
            header.add("x epoll");
        }
        if (limited) {
            header.add("x limit");
        }
        if (section.alone() != null) {
            header.add("x 1 loop");
        }
        Table table = new Table(header.toArray(new String[0]));
        Remarks remarks = new Remarks(longer());
        for (String scenario : section.scenarios()) {
            for (String subject : subjects) {
                Spread windows = results.windows(subject, scenario, section.plotted());
                List<Reading> unsettled = results.unsettled(subject, scenario, section.plotted());
                if (windows == null && unsettled.isEmpty()) {
                    continue;
                }
                List<String> row = new ArrayList<>(List.of(scenario, subject));
                if (windows == null) {
                    row.addAll(List.of("not settled: " + unsettled.get(unsettled.size() - 1).state(), ""));
                } else {
                    row.addAll(List.of(median(subject, scenario, section.plotted()),
                            windows.range(section.plotted()::format)));
                }
                if (!results.isSettled(subject, scenario, section.plotted())) {
                    unsettled.forEach(reading -> remarks.add(scenario, subject, reading.seen()));
                }
                figures.forEach(figure -> row.add(median(subject, scenario, figure)));
                if (based) {
                    row.add(subject.equals(Goal.BASE) ? "" : ratio(subject, Goal.BASE, scenario, section));
                }
                if (limited) {
                    row.add(subject.equals(Goal.LIMIT) ? "" : ratio(subject, Goal.LIMIT, scenario, section));
                }
                if (section.alone() != null) {
                    row.add(scenario.equals(section.alone()) ? "" : text(results.ratio(
                            new Of(subject, scenario, section.plotted()),
                            new Of(subject, section.alone(), section.plotted()))));
                }
                table.row(row.toArray(new String[0]));
            }
        }
        return table + (remarks.write().isEmpty() ? "" : '\n' + remarks.write());
    }

    /** Returns the option for a longer run. */
    private String longer() {
        return Stream.of(Effort.QUICK, Effort.DEFAULT).anyMatch(effort -> effort.name().equals(run.plan()))
                ? "--full" : "--rounds 10";
    }

    /** Returns the columns that have any value. */
    private List<Figure> measured(Section section, List<String> subjects) {
        return section.figures().stream().filter(figure -> section.scenarios().stream().anyMatch(scenario ->
                subjects.stream().anyMatch(subject -> results.spread(subject, scenario, figure) != null))).toList();
    }

    private String ratio(String subject, String base, String scenario, Section section) {
        return text(results.ratio(subject, base, scenario, section.plotted()));
    }

    private static String text(Spread ratio) {
        if (ratio == null) {
            return "";
        }
        String range = ratio.range(MarkdownReport::factor);
        return factor(ratio.median()) + (range.contains(" to ") ? " (" + range + ')' : "");
    }

    private static String factor(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    }

    private static String header(Figure figure) {
        return figure + ", " + figure.unit();
    }

    private String median(String subject, String scenario, Figure figure) {
        Spread spread = results.spread(subject, scenario, figure);
        return spread == null ? "" : figure.format(spread.median())
                + (spread.isTypical() && results.isSettled(subject, scenario, figure) ? "" : Remarks.MARK);
    }

    private Table missing() {
        Table table = new Table("what", "transport", "why");
        run.missing().forEach(missing -> table.row(missing.part(), missing.subject(), missing.why()));
        return table;
    }
}
