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
package io.netty.example.rdma.requests;

import io.netty.example.rdma.verbs.ConnectionOptions;
import io.netty.example.rdma.verbs.VerbsEnd;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;

/**
 * The command line options of both ends, which have to be given the same.
 */
final class OperationOptions {
    @Mixin
    private VerbsOptions options;

    @Mixin
    private ConnectionOptions connection;

    @Option(names = "--operation", required = true, description = "One of ${COMPLETION-CANDIDATES}.")
    private Operation operation;

    @Option(names = "--text", description = "What this end says with --operation text.")
    private String text;

    int request(Mistake mistake) throws Exception {
        return options.run(group -> {
            VerbsEnd end = isText() ? new TextRequester(text)
                    : operation.requester(size(), options.count(), mistake);
            connection.connect(group, options.timeout(), end, 0);
            return List.of(end.result());
        });
    }

    int respond() throws Exception {
        return options.run(group -> {
            VerbsEnd end = isText() ? new TextResponder(text) : operation.responder(size(), options.count());
            connection.accept(group, options.timeout(), List.of(end));
            return List.of(end.result());
        });
    }

    private boolean isText() {
        return operation == Operation.TEXT && text != null;
    }

    private int size() {
        return options.size(1, Operation.MAX_SIZE);
    }
}
