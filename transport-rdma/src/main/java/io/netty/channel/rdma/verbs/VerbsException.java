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
package io.netty.channel.rdma.verbs;

import java.io.IOException;

/**
 * A verbs or RDMA CM call failed. Carries the name of the C function and its {@code errno}.
 */
public final class VerbsException extends IOException {
    private static final long serialVersionUID = 5723890141234567123L;

    private final String call;
    private final int errno;

    /**
     * @param call  the C function that failed, for example {@code ibv_reg_mr}.
     * @param errno its (positive) error number.
     * @param what  what was attempted, for a person; for example {@code register 4096 bytes}.
     */
    VerbsException(String call, int errno, String what) {
        super(message(call, errno, what));
        this.call = call;
        this.errno = errno;
    }

    private static String message(String call, int errno, String what) {
        StringBuilder text = new StringBuilder(128).append("cannot ").append(what).append(": ").append(call)
                .append(": ").append(NativeMemory.errorText(errno)).append(" (errno ").append(errno).append(')');
        String hint = Errno.hint(call, errno);
        if (hint != null) {
            text.append("; ").append(hint);
        }
        return text.toString();
    }

    /** The C function that failed, for example {@code ibv_create_qp}. */
    public String call() {
        return call;
    }

    /** The positive error number, with the values of {@code errno.h} on Linux; see {@link Errno}. */
    public int errno() {
        return errno;
    }
}
