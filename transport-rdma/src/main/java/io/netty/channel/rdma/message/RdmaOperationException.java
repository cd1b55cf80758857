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
package io.netty.channel.rdma.message;

import io.netty.channel.rdma.verbs.WorkCompletionStatus;

import java.io.IOException;

/**
 * An operation that was not executed, or may not have been. Has the status of verbs.
 */
public final class RdmaOperationException extends IOException {
    private static final long serialVersionUID = 2318905567021936482L;

    private final int status;
    private final boolean posted;
    private final transient RdmaOperation operation;

    RdmaOperationException(RdmaOperation operation, int status) {
        super(operation + " failed: " + WorkCompletionStatus.describe(status) + " (status " + status + ')');
        this.status = status;
        this.operation = operation;
        posted = true;
    }

    RdmaOperationException(RdmaOperation operation, int status, String why) {
        super(operation + " was not begun: " + why + " (status " + status + ": " +
                WorkCompletionStatus.describe(status) + ')');
        this.status = status;
        this.operation = operation;
        posted = false;
    }

    RdmaOperationException(int status) {
        super("Receiving failed: " + WorkCompletionStatus.describe(status) + " (status " + status + ')');
        this.status = status;
        operation = null;
        posted = true;
    }

    /**
     * The operation that failed, without a reference for the caller; {@code null} for a receive, a datagram, or an
     * internal request.
     */
    public RdmaOperation operation() {
        return operation instanceof DatagramSend ? null : operation;
    }

    /** The status, one of {@link WorkCompletionStatus}. */
    public int status() {
        return status;
    }

    /**
     * Returns whether the device has reported the failure, which ends the connection. If not, the channel has refused
     * the operation before the post, and the connection goes on.
     */
    public boolean isPosted() {
        return posted;
    }
}
