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
/**
 * Commands that run both ends of a verbs example as processes, by {@link io.netty.microbench.rdma.verbs.PairOptions}.
 * {@link io.netty.example.rdma.pingpong} and {@link io.netty.example.rdma.blast} are compared with the programs of
 * perftest that do the same: verbs programmers measure devices with these. Both run on the same provider, in turn, in
 * the same minutes.
 */
package io.netty.microbench.rdma.verbs;
