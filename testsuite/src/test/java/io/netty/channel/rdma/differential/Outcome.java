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
package io.netty.channel.rdma.differential;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Result of one run of a program.
 *
 * @param items      what is compared, by name.
 * @param racing     whether the connection ended while something was under way to the end that ended it, or a reaction
 *                   came after a write that waited for a flush, so that it is a matter of time what the ends see.
 * @param unread     ends that closed the connection while the other one did not read.
 * @param violations of what is promised on any transport.
 * @param log        for people.
 */
record Outcome(String transport, Map<String, String> items, boolean racing, Set<Side> unread,
               List<String> violations, String log) {
}
