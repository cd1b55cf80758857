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
 * A tensor in memory of a graphics processor goes to that of another process and back.
 *
 * <pre>
 *  TensorClient                                    TensorServer
 *  Tensor ── TensorClientEnd ── RDMA WRITE, READ ─── Tensor     --way gpu, host
 *  Tensor ── copy ── TCP ────────────────── copy ── Tensor     --way copy: TensorCopy
 * </pre>
 * {@link io.netty.channel.rdma.RegisteredMemory#ofCuda} registers the memory; then it is used like any other. The
 * processor's own copies write the tensor and check it, at both ends. {@code Cuda} calls CUDA's driver library without
 * a library of its own.
 */
package io.netty.example.rdma.gpu;
