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
 * The destination of a datagram, without its queue pair ({@code struct ibv_ah}, ibv_create_ah(3)). Made by {@link
 * ProtectionDomain#createAddressHandle}; used with {@link SendWorkRequests#to} by any thread, as long as {@link
 * #close()} comes after the completions of what was posted with it.
 */
@UnstableApi
public final class AddressHandle extends VerbsObject {
    AddressHandle(long address, ProtectionDomain domain) {
        super(VerbsResource.ADDRESS_HANDLE, address, domain);
    }

    @Override
    int destroy(long address) {
        return destroy0(api(), address);
    }

    static native long create0(long api, long pd, int[] values, byte[] gid);

    static native long createFromCompletion0(long api, long pd, long completion, long globalHeader, int port);

    private static native int destroy0(long api, long handle);
}
