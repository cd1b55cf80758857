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
package io.netty.example.rdma.top;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import com.sun.tools.attach.VirtualMachineDescriptor;
import io.netty.channel.rdma.metrics.RdmaMetricsMBean;

import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.ReflectionException;
import javax.management.openmbean.CompositeData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Another JVM of this user, and the metrics of its transport.
 */
final class RunningJvm implements AutoCloseable {
    private static final String AGENT = "io.netty.rdma:type=Agent";
    private static final String LIBRARY = "netty_transport_native_rdma";

    private final JMXConnector connector;
    private final MBeanServerConnection server;
    private final ObjectName name;

    private RunningJvm(JMXConnector connector, MBeanServerConnection server, ObjectName name) {
        this.connector = connector;
        this.server = server;
        this.name = name;
    }

    /** The metrics at one moment. */
    record Reading(long nanos, CompositeData process, List<CompositeData> loops, List<CompositeData> devices,
                   List<CompositeData> connections, List<CompositeData> tcpDestinations, List<CompositeData> agent) { }

    /** Returns the JVMs that have loaded the transport's native library: their command lines by process id. */
    static Map<Long, String> all() {
        Map<Long, String> found = new TreeMap<>();
        for (VirtualMachineDescriptor descriptor : VirtualMachine.list()) {
            long pid = Long.parseLong(descriptor.id());
            if (pid != ProcessHandle.current().pid() && usesTransport(pid)) {
                found.put(pid, descriptor.displayName());
            }
        }
        return found;
    }

    /** Looks for the library in the list of mappings (proc(5)), which has its name even if the file is deleted. */
    private static boolean usesTransport(long pid) {
        try (Stream<String> mappings = Files.lines(Path.of("/proc", Long.toString(pid), "maps"),
                StandardCharsets.ISO_8859_1)) {
            return mappings.anyMatch(line -> line.contains(LIBRARY));
        } catch (IOException | UncheckedIOException e) {
            // The process belongs to another user, or has ended.
            return false;
        }
    }

    /**
     * Attaches to a JVM of this user.
     *
     * @throws IOException if that is not possible; the message says what to do
     */
    static RunningJvm attach(long pid) throws IOException, JMException {
        String address;
        if (ProcessHandle.of(pid).isEmpty()) {
            throw new IOException("No process " + pid);
        }
        try {
            VirtualMachine machine = VirtualMachine.attach(Long.toString(pid));
            try {
                address = machine.startLocalManagementAgent();
            } finally {
                machine.detach();
            }
        } catch (AttachNotSupportedException e) {
            throw new IOException("Process " + pid + " is no JVM of this user, or does not let others attach " +
                    "(-XX:+DisableAttachMechanism): " + e.getMessage(), e);
        }
        JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address));
        try {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            ObjectName name = new ObjectName(RdmaMetricsMBean.NAME);
            create(server, name, pid);
            return new RunningJvm(connector, server, name);
        } catch (Throwable t) {
            connector.close();
            throw t;
        }
    }

    private static void create(MBeanServerConnection server, ObjectName name, long pid)
            throws IOException, JMException {
        if (server.isRegistered(name)) {
            return;
        }
        if (!usesTransport(pid)) {
            throw new IOException("Process " + pid + " has not used the RDMA transport so far");
        }
        try {
            server.createMBean(RdmaMetricsMBean.class.getName(), name);
        } catch (InstanceAlreadyExistsException e) {
            // Another client of the JVM has registered it meanwhile.
            return;
        } catch (ReflectionException e) {
            throw new IOException("Process " + pid + " has no event loop for RDMA so far, or a version of the " +
                    "transport without " + RdmaMetricsMBean.class.getName(), e);
        }
    }

    Reading read() throws IOException, JMException {
        long now = System.nanoTime();
        return new Reading(now, (CompositeData) server.getAttribute(name, "Process"), rows("Loops"), rows("Devices"),
                rows("Connections"), rows("TcpDestinations"), agent());
    }

    /** The classes that the agent (docs/agent.md) has exchanged, if there is one. */
    private List<CompositeData> agent() throws IOException, JMException {
        ObjectName agent = new ObjectName(AGENT);
        return server.isRegistered(agent) ? rows(agent, "Classes") : List.of();
    }

    private List<CompositeData> rows(String attribute) throws IOException, JMException {
        return rows(name, attribute);
    }

    private List<CompositeData> rows(ObjectName of, String attribute) throws IOException, JMException {
        return List.of((CompositeData[]) server.getAttribute(of, attribute));
    }

    @Override
    public void close() {
        try {
            connector.close();
        } catch (IOException e) {
            // The process has ended, so there is nothing to close.
            return;
        }
    }
}
