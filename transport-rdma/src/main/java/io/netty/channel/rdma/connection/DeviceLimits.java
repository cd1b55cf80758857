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
package io.netty.channel.rdma.connection;

import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.Errno;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.QueuePairInitAttributes;
import io.netty.channel.rdma.verbs.VerbsException;

import java.io.IOException;

/**
 * Fits the options of a connection to its device. What the application has set it gets, or an error that names the
 * limit: a queue that is silently shorter than the one asked for would be found by a measurement at best. Defaults are
 * lowered instead, so that they work on any device.
 */
public final class DeviceLimits {
    private static final int LEAST_SGES = 2;
    private static final String SEND = "SEND_QUEUE_DEPTH";
    private static final String RECEIVE = "RECEIVE_QUEUE_DEPTH";

    private DeviceLimits() { }

    /** The maker of queue pairs: the connection manager, or the protection domain alone. */
    interface Factory {
        QueuePair create(QueuePairInitAttributes attributes) throws VerbsException;
    }

    /** The depth of a send or receive queue. */
    static int depth(QueuePairOptions options, OptionRow<Integer> option, DeviceContext context) {
        return limit(options, option, context.attributes.maxWorkRequests(), context.device, "its max_qp_wr");
    }

    /** The value of an option as far as the device can. */
    public static int limit(QueuePairOptions options, OptionRow<Integer> option, int limit, Device device,
                            String attribute) {
        int value = options.get(option);
        if (value > limit && options.values.isSet(option)) {
            throw beyond(option, value, device, limit, attribute);
        }
        return Math.min(value, limit);
    }

    /** Both queues complete into one completion queue. */
    static void checkCompletions(int sendDepth, int receiveDepth, DeviceContext context) {
        int limit = context.attributes.maxCompletions();
        if (sendDepth + receiveDepth > limit) {
            throw new IllegalArgumentException(SEND + " + " + RECEIVE + ": " + sendDepth + " + " + receiveDepth +
                    " (expected: at most " + limit + " together on " + context.device + ", its max_cqe)");
        }
    }

    /**
     * Creates the queue pair. A device has no attribute for the most inline bytes, and its other limits depend on each
     * other (ibv_create_qp(3)), so what it can do is found by trying.
     *
     * @param attributes complete, with the inline size to ask for.
     */
    static QueuePair createQueuePair(Factory factory, DeviceContext context, QueuePairInitAttributes attributes,
                                     int inline, QueuePairOptions options) throws IOException {
        try {
            return factory.create(attributes.maxInlineData(inline));
        } catch (VerbsException e) {
            if (!isLimit(e)) {
                throw e;
            }
        }
        attributes.maxSendSges(LEAST_SGES);
        QueuePair least;
        try {
            least = factory.create(attributes.maxInlineData(0));
        } catch (VerbsException e) {
            throw isLimit(e) ? new IOException(e.getMessage() + "; lower " + SEND + " and " + RECEIVE, e) : e;
        }
        int wanted = options.get(QueuePairOptions.MAX_INLINE);
        if (!options.values.isSet(QueuePairOptions.MAX_INLINE) || wanted == 0) {
            return least;
        }
        least.close();
        int most = mostInline(factory, attributes, wanted);
        if (most < wanted) {
            throw beyond(QueuePairOptions.MAX_INLINE, wanted, context.device, most, "found by trying");
        }
        return factory.create(attributes.maxInlineData(most));
    }

    /** The most inline bytes up to this many with which a queue pair can be created. */
    private static int mostInline(Factory factory, QueuePairInitAttributes attributes, int upTo)
            throws VerbsException {
        int low = 0;
        int high = upTo;
        while (low < high) {
            int middle = low + high + 1 >>> 1;
            try {
                factory.create(attributes.maxInlineData(middle)).close();
                low = middle;
            } catch (VerbsException e) {
                if (!isLimit(e)) {
                    throw e;
                }
                high = middle - 1;
            }
        }
        return low;
    }

    private static boolean isLimit(VerbsException e) {
        return e.errno() == Errno.EINVAL || e.errno() == Errno.ENOMEM;
    }

    private static IllegalArgumentException beyond(OptionRow<?> row, int value, Device device, int limit, String how) {
        return new IllegalArgumentException(OptionRow.name(row.option()) + ": " + value + " (expected: at most " +
                limit + " on " + device + ", " + how + ')');
    }
}
