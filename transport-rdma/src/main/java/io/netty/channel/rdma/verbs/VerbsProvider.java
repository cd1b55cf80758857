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

/** An implementation of verbs. The system property {@code io.netty.rdma.provider} selects those that channels use. */
public enum VerbsProvider {
    /**
     * libibverbs and librdmacm of the system: network adapters, soft-RoCE ({@code rdma_rxe}), iWARP
     * (see {@link Device#isIwarp()}).
     */
    IBVERBS,

    /**
     * The provider in this transport's native library. It reaches processes of the same user on the same host, over
     * shared memory; with a folder (see {@link VerbsApi}) also other network namespaces, and the listed users. Needs no
     * device, no kernel module and no privilege.
     */
    EMBEDDED
}
