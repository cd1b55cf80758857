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
package io.netty.channel.rdma.agent.transform;

/** A search in class files, before anything parses them: of all classes that are loaded, few name one of Netty. */
final class Bytes {
    private Bytes() { }

    static boolean contains(byte[] bytes, byte[] pattern) {
        for (int i = 0; i <= bytes.length - pattern.length; i++) {
            int matching = 0;
            while (matching < pattern.length && bytes[i + matching] == pattern[matching]) {
                matching++;
            }
            if (matching == pattern.length) {
                return true;
            }
        }
        return false;
    }
}
