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
 * Moves a tensor from the memory of a graphics processor to that of another process, and back.
 *
 * <pre>
 *  TensorClient                                    TensorServer
 *  Tensor ── TensorClientEnd ── RDMA WRITE, READ ─── Tensor     --way gpu, host
 *  Tensor ── copy ── TCP ────────────────── copy ── Tensor     --way copy: TensorCopy
 * </pre>
 * {@link io.netty.channel.rdma.RegisteredMemory#ofCuda} registers the memory, which is then used like any other
 * registered memory. At both ends, CUDA's own copies move data into the tensor and, for the check, out of it. {@code
 * Cuda} calls CUDA's driver library without native code of its own.
 */
package io.netty.example.rdma.gpu;
