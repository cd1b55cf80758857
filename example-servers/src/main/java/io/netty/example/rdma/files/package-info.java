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
 * A server of static files, on the pipeline of {@link io.netty.example.rdma.http}.
 *
 * <pre>
 * FileServerHandler  from a request to a status, a whole file or a range
 *    Folder             what may be reached
 *    ServedFile         its version, and the conditions of a request
 *    ByteRange          the part that is asked for
 *    MappedFiles        files in memory, as the alternative to a FileRegion
 * </pre>
 *
 * <p>Files are looked up on the event loop: with a disk that is slow to answer, run the handler on an executor of its
 * own.
 *
 * <p>The client is that of http: {@code http-client /some-file --output copy}.
 */
package io.netty.example.rdma.files;
