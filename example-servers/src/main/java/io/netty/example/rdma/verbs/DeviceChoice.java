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

import io.netty.bootstrap.AbstractBootstrap;
import io.netty.channel.rdma.RdmaChannelOption;
import picocli.CommandLine.Option;

import java.util.ArrayList;
import java.util.List;

/**
 * The command line options that choose device, port and GID, with the names that verbs programs use. By default the
 * address chooses them.
 */
public final class DeviceChoice {
    @Option(names = {"-d", "--device"}, paramLabel = "NAME", description = "The RDMA device of this end, as diagnose "
            + "lists it (default: that of the address).")
    private String name = "";

    @Option(names = {"-i", "--device-port"}, paramLabel = "NUMBER",
            description = "The port of that device (default: that of the address, or the first active one).")
    private int port;

    @Option(names = {"-g", "--gid-index"}, paramLabel = "NUMBER",
            description = "The place in that port's table of GIDs (default: where the address is).")
    private int gidIndex = -1;

    /** Returns whether a device was chosen by its name, so that no address is needed. */
    public boolean isNamed() {
        return !name.isEmpty();
    }

    /** Sets the options of a channel or a listener. */
    public <B extends AbstractBootstrap<B, ?>> B of(B bootstrap) {
        return bootstrap.option(RdmaChannelOption.DEVICE, name).option(RdmaChannelOption.DEVICE_PORT, port)
                .option(RdmaChannelOption.GID_INDEX, gidIndex);
    }

    /** Returns the same choice as arguments of another program. */
    public List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        if (isNamed()) {
            arguments.add("--device=" + name);
        }
        if (port != 0) {
            arguments.add("--device-port=" + port);
        }
        if (gidIndex >= 0) {
            arguments.add("--gid-index=" + gidIndex);
        }
        return arguments;
    }
}
