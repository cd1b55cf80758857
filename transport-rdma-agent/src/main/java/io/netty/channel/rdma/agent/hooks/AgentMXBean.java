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
package io.netty.channel.rdma.agent.hooks;

/**
 * Classes that the agent has exchanged in this process: the MBean {@code io.netty.rdma:type=Agent} of the platform's
 * server. If several class loaders have a Netty, it is the MBean of the first. Any thread.
 */
public interface AgentMXBean {
    /** The classes that a program has asked for, by their names. */
    Row[] getClasses();

    /** A class that a program has asked for, and the one that it has got. */
    final class Row {
        private final String type;
        private final String by;
        private final long count;
        private final String reason;

        Row(String type, String by, long count, String reason) {
            this.type = type;
            this.by = by;
            this.count = count;
            this.reason = reason;
        }

        /** The class that was asked for, or the part of the agent that has failed. */
        public String getType() {
            return type;
        }

        /** The class that has taken its place; empty if none has. */
        public String getBy() {
            return by;
        }

        /** The number of objects. */
        public long getCount() {
            return count;
        }

        /** The reason why the class was not replaced; empty if it was. */
        public String getReason() {
            return reason;
        }
    }
}
