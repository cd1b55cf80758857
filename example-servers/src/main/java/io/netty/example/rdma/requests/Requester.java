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

import io.netty.example.rdma.util.Commands;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;

/**
 * The end that makes requests.
 */
@Command(name = "requester", sortOptions = false, description = {
        "Makes requests of one kind to a responder, and checks what they bring. The responder checks what they do "
                + "there. Give both the same operation, size and count."})
public final class Requester implements Callable<Integer> {
    @Mixin
    private OperationOptions options;

    public static void main(String[] args) {
        System.exit(Commands.run(new Requester(), args));
    }

    @Override
    public Integer call() throws Exception {
        return options.request();
    }
}
