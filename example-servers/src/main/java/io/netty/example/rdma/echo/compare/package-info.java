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
 * The echo comparison: a file, round trips and one-way streaming, the same handlers on each transport; see
 * {@link io.netty.example.rdma.compare}.
 *
 * <p>A round trip of a microsecond leaves no room for a promise each, so the handlers are operations themselves. A
 * stream has no operations: some megabytes of it are one, and the source goes on meanwhile; while nobody wants any,
 * nothing is read, and it rests.
 */
package io.netty.example.rdma.echo.compare;
