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

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A Markdown table with aligned columns, so that it is easy to read as plain text, too.
 */
public final class Table {
    private final List<List<String>> rows = new ArrayList<>();

    public Table(String... header) {
        row(header);
    }

    public void row(String... cells) {
        rows.add(List.of(cells));
    }

    @Override
    public String toString() {
        List<Integer> widths = new ArrayList<>(Collections.nCopies(rows.get(0).size(), 3));
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                widths.set(i, Math.max(widths.get(i), row.get(i).length()));
            }
        }
        StringBuilder text = new StringBuilder();
        for (int r = 0; r < rows.size(); r++) {
            for (int i = 0; i < widths.size(); i++) {
                text.append("| ").append(rows.get(r).get(i))
                    .append(" ".repeat(widths.get(i) - rows.get(r).get(i).length() + 1));
            }
            text.append("|\n");
            if (r == 0) {
                widths.forEach(width -> text.append('|').append("-".repeat(width + 2)));
                text.append("|\n");
            }
        }
        return text.toString();
    }
}
