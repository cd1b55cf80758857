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
 * FileServerHandler  answers a request with a status, a whole file or a range of it
 *    Folder             finds the file, and refuses paths that lead out of the folder
 *    ServedFile         the version of a file, and the conditions of a request
 *    ByteRange          the requested part of a file
 *    MappedFiles        files that are mapped into memory, as the alternative to a FileRegion
 * </pre>
 *
 * <p>Files are looked up and opened on the event loop. If the disk is slow, run the handler on an executor of its own.
 *
 * <p>The client is {@code http-client} of the http example: {@code http-client /some-file --output copy}.
 */
package io.netty.example.rdma.files;
