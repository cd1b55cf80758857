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
package io.netty.channel.rdma.metrics;

import io.netty.channel.rdma.connection.StreamCounters.Counter;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.channel.rdma.memory.Staging;
import io.netty.channel.rdma.monitor.ConnectCounters;
import io.netty.channel.rdma.monitor.ConnectionRecord;
import io.netty.channel.rdma.monitor.TcpDestination;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.ArrayType;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.CompositeDataSupport;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenDataException;
import javax.management.openmbean.OpenMBeanAttributeInfo;
import javax.management.openmbean.OpenMBeanAttributeInfoSupport;
import javax.management.openmbean.OpenMBeanConstructorInfo;
import javax.management.openmbean.OpenMBeanInfoSupport;
import javax.management.openmbean.OpenMBeanOperationInfo;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;
import javax.management.MBeanNotificationInfo;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

import static io.netty.channel.rdma.connection.StreamCounters.TOTAL;

/**
 * The metrics of this process as an MBean of open types, for JConsole, exporters of JMX, and {@code ./run-example.sh
 * top}: the attributes {@code Process}, and the arrays {@code Loops}, {@code Devices}, {@code Connections} and {@code
 * TcpDestinations}. All are read only.
 *
 * <p>The MBean is registered with the platform's MBean server while there are event loops for RDMA. It is not
 * registered if the name is taken when the first loop is made, for example by another class loader, or without the
 * module {@code java.management}.
 */
public final class RdmaMetricsMBean implements DynamicMBean {
    /** The object name of the MBean. */
    public static final String NAME = "io.netty.rdma:type=Transport";

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaMetricsMBean.class);

    /** A kind of rows: the columns, and the source of the rows. */
    private static final class Table<T> {
        private final String name;
        private final String description;
        private final List<String> columns = new ArrayList<>();
        private final List<String> descriptions = new ArrayList<>();
        private final List<OpenType<?>> types = new ArrayList<>();
        private final List<Function<T, Object>> values = new ArrayList<>();
        private CompositeType type;

        Table(String name, String description) {
            this.name = name;
            this.description = description;
        }

        Table<T> number(String column, String what, Function<T, Long> value) {
            return add(column, what, SimpleType.LONG, value::apply);
        }

        Table<T> text(String column, String what, Function<T, String> value) {
            return add(column, what, SimpleType.STRING, value::apply);
        }

        private Table<T> add(String column, String what, OpenType<?> columnType, Function<T, Object> value) {
            columns.add(column);
            descriptions.add(what);
            types.add(columnType);
            values.add(value);
            return this;
        }

        CompositeType type() throws OpenDataException {
            if (type == null) {
                type = new CompositeType(name, description, columns.toArray(new String[0]),
                        descriptions.toArray(new String[0]), types.toArray(new OpenType<?>[0]));
            }
            return type;
        }

        CompositeData row(T of) throws OpenDataException {
            Object[] row = new Object[values.size()];
            for (int i = 0; i < row.length; i++) {
                row[i] = values.get(i).apply(of);
            }
            return new CompositeDataSupport(type(), columns.toArray(new String[0]), row);
        }

        CompositeData[] rows(List<T> of) throws OpenDataException {
            List<CompositeData> rows = new ArrayList<>(of.size());
            for (T each : of) {
                rows.add(row(each));
            }
            return rows.toArray(new CompositeData[0]);
        }
    }

    /** The table with one row, which has no source object. */
    private final Table<Void> process = new Table<Void>("Process", "The whole process")
            .number("bytesSentInPlace", "On byte streams", none -> TOTAL.get(Counter.SENT_IN_PLACE))
            .number("bytesSentInline", "On byte streams", none -> TOTAL.get(Counter.SENT_INLINE))
            .number("bytesSentCopied", "On byte streams", none -> TOTAL.get(Counter.SENT_COPIED))
            .number("bytesReceivedInPlace", "On byte streams", none -> TOTAL.get(Counter.RECEIVED_IN_PLACE))
            .number("bytesReceivedCopied", "On byte streams", none -> TOTAL.get(Counter.RECEIVED_COPIED))
            .number("creditStalls", "How often flushed bytes had to wait for the peer",
                    none -> TOTAL.get(Counter.CREDIT_STALLS))
            .number("creditStallNanos", "How long", none -> TOTAL.creditStallNanos())
            .number("stalledConnections", "How many wait now", none -> (long) TOTAL.stalledConnections())
            .number("receiveMemory", "Bytes where bytes of peers arrive", none -> TOTAL.receiveMemory())
            .number("detachedBytes", "Flushed bytes of closed channels that are still to be sent",
                    none -> TOTAL.detached())
            .number("pinnedMemory", "Registered bytes", none -> PinnedMemory.PROCESS.used())
            .number("maxPinnedMemory", "The most of these", none -> PinnedMemory.PROCESS.max())
            .number("stagingMemory", "Those for copies of what is sent", none -> Staging.pinnedMemory())
            .number("tcpConnections", "Over TCP that there are, of clients for RDMA and TCP",
                    none -> TcpDestination.open())
            .number("tcpConnects", "Over TCP so far, by clients for RDMA and TCP", none -> TcpDestination.connects())
            .number("tcpAccepts", "Over TCP so far, by servers for RDMA and TCP", none -> TcpDestination.accepts())
            .number("connectFailures", "Connects that have failed", none -> ConnectCounters.failures())
            .number("rejections", "Requests of peers that were rejected", none -> ConnectCounters.rejections());

    private final Table<RdmaLoopMetrics> loops = new Table<RdmaLoopMetrics>("Loops", "An event loop")
            .text("name", "Of its thread", RdmaLoopMetrics::name)
            .number("connections", "That belong to it", loop -> (long) loop.connections())
            .number("completions", "Of work requests", RdmaLoopMetrics::completions)
            .number("fruitfulPolls", "Looks into completion queues that found something",
                    RdmaLoopMetrics::fruitfulPolls)
            .number("emptyPolls", "Looks that found nothing", RdmaLoopMetrics::emptyPolls)
            .number("sleeps", "How often it has slept", RdmaLoopMetrics::sleeps)
            .number("completionWakeups", "How often completions have ended that",
                    RdmaLoopMetrics::completionWakeups)
            .number("sleptNanos", "How long it has slept", RdmaLoopMetrics::sleptNanos);

    private final Table<RdmaDeviceMetrics> devices = new Table<RdmaDeviceMetrics>("Devices", "A device")
            .text("name", "The kernel's", RdmaDeviceMetrics::name)
            .text("provider", "ibverbs or embedded", RdmaDeviceMetrics::provider)
            .number("connections", "That there are", device -> (long) device.connections())
            .number("connects", "That this process has made", RdmaDeviceMetrics::connects)
            .number("accepts", "That it has accepted", RdmaDeviceMetrics::accepts)
            .number("losses", "Connections that have ended by an error", RdmaDeviceMetrics::losses)
            .number("completions", "Of work requests", RdmaDeviceMetrics::completions)
            .number("memoryRegions", "That are registered", device -> (long) device.memoryRegions())
            .number("registeredMemory", "Bytes of these", RdmaDeviceMetrics::registeredMemory);

    private final Table<ConnectionRecord> connections = new Table<ConnectionRecord>("Connections", "A connection")
            .text("local", "Address", connection -> text(connection.local()))
            .text("remote", "Address", connection -> text(connection.remote()))
            .text("direction", "out: this side has asked for it; in", connection ->
                    connection.isOutgoing() ? "out" : "in")
            .text("kind", "stream or messages", connection -> connection.kind().name().toLowerCase(Locale.ROOT))
            .text("device", "Its name", connection -> connection.device().device())
            .text("provider", "ibverbs or embedded", connection -> connection.device().provider())
            .text("reason", "Why by this provider; empty if the application has connected it by itself", connection ->
                    connection.reason() == null ? "" : connection.reason())
            .text("loop", "The name of its event loop", connection -> connection.loop().name())
            .number("ageMillis", "Since it was established", ConnectionRecord::ageMillis)
            .number("bytesSent", "By all operations", ConnectionRecord::bytesSent)
            .number("bytesReceived", "By all operations", ConnectionRecord::bytesReceived)
            .number("bytesCopied", "Of both, on this host", ConnectionRecord::bytesCopied)
            .number("creditStallNanos", "How long flushed bytes have waited for the peer",
                    ConnectionRecord::creditStallNanos)
            .number("receiveMemory", "Bytes of its own", ConnectionRecord::receiveMemory);

    private final Table<TcpDestination.Row> tcpDestinations = new Table<TcpDestination.Row>("TcpDestinations",
            "An address that clients for RDMA and TCP have connected to over TCP")
            .text("remote", "Address", destination -> text(destination.remote()))
            .text("reason", "Why not over RDMA, the last time", TcpDestination.Row::reason)
            .text("message", "The same for a person", TcpDestination.Row::message)
            .number("connections", "Over TCP that there are", TcpDestination.Row::connections)
            .number("connects", "Over TCP so far", TcpDestination.Row::connects);

    private static boolean registered;

    /** Constructor for MBean servers. */
    public RdmaMetricsMBean() {
        // The object has no state.
    }

    /** Registers the MBean with the platform's MBean server, unless the name is taken. */
    public static synchronized void register() throws JMException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try {
            server.registerMBean(new RdmaMetricsMBean(), new ObjectName(NAME));
            registered = true;
        } catch (InstanceAlreadyExistsException e) {
            logger.debug("{} is registered already, perhaps by another class loader", NAME, e);
        }
    }

    /** Ends the registration by {@link #register}, if there is one. */
    public static synchronized void unregister() throws JMException {
        if (registered) {
            registered = false;
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(new ObjectName(NAME));
        }
    }

    private static String text(InetSocketAddress address) {
        if (address == null || address.isUnresolved()) {
            return address == null ? "" : address.toString();
        }
        return address.getAddress().getHostAddress() + ':' + address.getPort();
    }

    @Override
    public Object getAttribute(String attribute) throws AttributeNotFoundException {
        try {
            return switch (attribute) {
            case "Process" -> process.row(null);
            case "Loops" -> loops.rows(RdmaLoopMetrics.all());
            case "Devices" -> devices.rows(RdmaDeviceMetrics.all());
            case "Connections" -> connections.rows(ConnectionRecord.open().elements());
            case "TcpDestinations" -> tcpDestinations.rows(TcpDestination.all());
            default -> throw new AttributeNotFoundException(attribute);
            };
        } catch (OpenDataException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public AttributeList getAttributes(String[] attributes) {
        AttributeList values = new AttributeList();
        for (String attribute : attributes) {
            try {
                values.add(new Attribute(attribute, getAttribute(attribute)));
            } catch (AttributeNotFoundException e) {
                // The interface requires that such an attribute is left out.
                continue;
            }
        }
        return values;
    }

    /** Throws, because no attribute can be set. */
    @Override
    public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
        throw new AttributeNotFoundException(attribute.getName() + " is read only");
    }

    /** Sets nothing, because no attribute can be set. */
    @Override
    public AttributeList setAttributes(AttributeList attributes) {
        return new AttributeList();
    }

    /** Throws, because there are no operations. */
    @Override
    public Object invoke(String action, Object[] parameters, String[] signature) {
        throw new UnsupportedOperationException(action);
    }

    @Override
    public MBeanInfo getMBeanInfo() {
        try {
            return new OpenMBeanInfoSupport(RdmaMetricsMBean.class.getName(), "Netty's RDMA transport",
                    new OpenMBeanAttributeInfo[] {
                            attribute(process, process.type()), rows(loops), rows(devices), rows(connections),
                            rows(tcpDestinations)
                    }, new OpenMBeanConstructorInfo[0], new OpenMBeanOperationInfo[0], new MBeanNotificationInfo[0]);
        } catch (OpenDataException e) {
            throw new IllegalStateException(e);
        }
    }

    private static OpenMBeanAttributeInfo rows(Table<?> table) throws OpenDataException {
        return attribute(table, new ArrayType<>(1, table.type()));
    }

    private static OpenMBeanAttributeInfo attribute(Table<?> table, OpenType<?> type) {
        return new OpenMBeanAttributeInfoSupport(table.name, table.description, type, true, false, false);
    }
}
