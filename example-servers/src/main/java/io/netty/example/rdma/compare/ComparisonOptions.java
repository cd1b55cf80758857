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
package io.netty.example.rdma.compare;

import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.example.rdma.Transport;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * The command line options of every comparison.
 */
public final class ComparisonOptions {
    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Option(names = "--quick", description = "One short round.")
    private boolean quick;

    @Option(names = "--rounds", description = "Rounds to take medians of (default: 5, or 1 with --quick).")
    private Integer rounds;

    @Option(names = "--transports", split = ",", defaultValue = "rdma,epoll",
            description = "Transports to compare: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private List<Transport> transports;

    @Option(names = "--provider", defaultValue = "embedded",
            description = "Verbs provider of rdma: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private VerbsProvider provider;

    @Option(names = "--host", defaultValue = "127.0.0.1",
            description = "Address of this host, with ibverbs that of an RDMA device (default: ${DEFAULT-VALUE}).")
    private String host;

    @Option(names = "--markdown", description = "Write the tables to this file too.")
    private Path markdown;

    public Plan plan() {
        return quick ? Plan.QUICK : Plan.FULL;
    }

    public List<Transport> transports() {
        return transports;
    }

    int rounds() {
        return rounds != null ? rounds : plan().rounds();
    }

    /** As the system property {@code io.netty.rdma.provider} has it. */
    String provider() {
        return provider.name().toLowerCase(Locale.ROOT);
    }

    String host() {
        return host;
    }

    /** {@code null} if the tables are only printed. */
    Path markdown() {
        return markdown;
    }
}
