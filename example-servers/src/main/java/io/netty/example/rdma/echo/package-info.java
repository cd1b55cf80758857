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
 * An echo server, and a client that sends a file through the server and compares the SHA-256 of the echo.
 *
 * <p>Both ends work correctly under back pressure on any transport. The server stops reading while its peer does not
 * take the echo. The client reads the file only while the channel is writable. A half close marks the end of the file.
 */
package io.netty.example.rdma.echo;
