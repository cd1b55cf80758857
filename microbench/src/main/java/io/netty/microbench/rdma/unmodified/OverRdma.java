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
package io.netty.microbench.rdma.unmodified;

import io.netty.microbench.rdma.process.Control;

import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * Bytes that a process has sent over RDMA, read from the MBean of the transport, as any tool can do.
 *
 * @param sent           bytes of all its connections
 * @param copied         bytes of these that were copied into registered memory
 * @param tcpConnections number of connections that could not have RDMA
 */
public record OverRdma(long sent, long copied, long tcpConnections) {
    /** Name of the command that answers with these values. */
    public static final String COMMAND = "over-rdma";
    private static final String MBEAN = "io.netty.rdma:type=Transport";

    /** Adds the command to a control. */
    static Control addTo(Control control) {
        return control.add(COMMAND, arguments -> ofThisProcess().toString());
    }

    private static OverRdma ofThisProcess() throws JMException {
        try {
            CompositeData process = (CompositeData) ManagementFactory.getPlatformMBeanServer()
                    .getAttribute(new ObjectName(MBEAN), "Process");
            long copied = (long) process.get("bytesSentCopied");
            return new OverRdma(copied + (long) process.get("bytesSentInPlace") + (long) process.get("bytesSentInline"),
                    copied, (long) process.get("tcpConnects") + (long) process.get("tcpAccepts"));
        } catch (InstanceNotFoundException e) {
            // The process has no transport.
            return new OverRdma(0, 0, 0);
        }
    }

    /** Returns the text for {@link #parse}. */
    @Override
    public String toString() {
        return sent + " " + copied + ' ' + tcpConnections;
    }

    /** Returns the values that were printed. */
    public static OverRdma parse(String text) {
        long[] values = Arrays.stream(text.split(" ")).mapToLong(Long::parseLong).toArray();
        return new OverRdma(values[0], values[1], values[2]);
    }
}
