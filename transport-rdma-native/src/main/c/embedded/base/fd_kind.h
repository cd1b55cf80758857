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
/*
 * Tells eventfds from other descriptors. close(2) of an eventfd never lingers, and a write to one never waits for
 * a process that serves the file.
 *
 * Threads: any.
 */
#ifndef NETTY_RDMA_EMBEDDED_FD_KIND_H
#define NETTY_RDMA_EMBEDDED_FD_KIND_H

enum fd_kind { FD_UNKNOWN, FD_EVENTFD, FD_OTHER }; /* unknown: no /proc is mounted */

enum fd_kind fd_kind(int fd);

#endif
