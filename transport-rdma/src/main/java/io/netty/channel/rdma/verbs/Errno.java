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

import io.netty.util.internal.UnstableApi;

/**
 * The values of Linux {@code errno.h} that callers of verbs distinguish, with advice. The values are from {@code
 * asm-generic}, which x86-64 and AArch64 share.
 */
@UnstableApi
public final class Errno {
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int EBUSY = 16;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    public static final int EMFILE = 24;
    public static final int EFBIG = 27;
    public static final int ENOSYS = 38;
    public static final int ENODATA = 61;
    public static final int ENOTUNIQ = 76;
    public static final int EPROTONOSUPPORT = 93;
    public static final int EOPNOTSUPP = 95;
    public static final int EADDRINUSE = 98;
    public static final int EADDRNOTAVAIL = 99;
    public static final int ECONNRESET = 104;
    public static final int ETIMEDOUT = 110;
    public static final int ECONNREFUSED = 111;

    private Errno() { }

    /** Returns advice for an error, or {@code null} if the error text is enough. */
    static String hint(String call, int errno) {
        return switch (errno) {
        case ENOMEM -> switch (call) {
            case "ibv_reg_mr", "ibv_reg_dmabuf_mr", "ibv_create_cq", "ibv_create_qp", "ibv_create_srq",
                 "rdma_create_qp" -> LockedMemory.hint();
            default -> null;
        };
        case EOPNOTSUPP ->
            call.equals("ibv_reg_dmabuf_mr") ? "the device, its driver or its library has no dma-bufs" : null;
        case EMFILE -> "raise the limit of open files (ulimit -n)";
        case EFBIG -> "raise the limit of file sizes (ulimit -f), which counts for shared memory";
        case EACCES -> switch (call) {
            case "rdma_bind_addr" ->
                "another user holds the port on the embedded provider; or it is below 1024 (embedded: " +
                        "net.ipv4.ip_unprivileged_port_start), which needs CAP_NET_BIND_SERVICE";
            case "ibv_attach_mcast" -> "another user holds the name for the list of members: see docs/security.md";
            default -> "check the permissions of /dev/infiniband";
        };
        case EADDRNOTAVAIL -> call.endsWith("_create_qp") || call.equals("ibv_modify_qp") ?
                "other users hold the names of queue pairs: see the folder in docs/security.md" : null;
        case ENODEV -> call.startsWith("rdma_") ?
                "no RDMA device has this address: use the address of an RDMA network interface (see rdma link)" :
                "no RDMA device";
        case ETIMEDOUT -> call.equals("ibv_attach_mcast") ?
                "the process that keeps the list of members is stopped: see docs/providers.md" : null;
        default -> null;
        };
    }
}
