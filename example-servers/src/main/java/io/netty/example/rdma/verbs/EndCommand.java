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
package io.netty.example.rdma.verbs;

import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * Either end of a program on one connection, as a command. Both ends have the same options.
 */
public abstract class EndCommand implements Callable<Integer> {
    @Mixin
    private VerbsOptions verbs;

    @Mixin
    private ConnectionOptions connection;

    private final boolean client;

    /** @param client whether this end connects, rather than accepts */
    protected EndCommand(boolean client) {
        this.client = client;
    }

    /**
     * Creates this end.
     *
     * @throws IllegalArgumentException if the options do not fit
     */
    protected abstract VerbsEnd newEnd(VerbsOptions options, boolean isClient);

    @Override
    public final Integer call() throws Exception {
        return verbs.run(group -> {
            VerbsEnd end = newEnd(verbs, client);
            if (client) {
                connection.connect(group, verbs.timeout(), end, 0);
            } else {
                connection.accept(group, verbs.timeout(), List.of(end));
            }
            return List.of(end.result());
        });
    }
}
