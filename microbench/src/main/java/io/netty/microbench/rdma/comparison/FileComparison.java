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
package io.netty.microbench.rdma.comparison;

import io.netty.example.rdma.files.FileServer.FileMode;
import io.netty.example.rdma.files.FileServer;
import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.load.FileLoad;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The files example as a whole.
 */
@Command(name = "files", description = "Runs a server of static files and a client that checks every answer, on one "
        + "transport after the other, and compares: a small file, ranges, a large file.")
public final class FileComparison extends ExampleComparison {
    @Option(names = "--files", defaultValue = "region",
            description = "How files are sent: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private FileMode mode;

    public FileComparison() {
        super(FileServer.class, FileLoad.class);
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new FileComparison(), args));
    }

    @Override
    protected List<String> serverArguments(Path folder) throws IOException {
        FileLoad.writeFiles(folder);
        return List.of("--root", folder.toString(), "--files", mode.toString());
    }
}
