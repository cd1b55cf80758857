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

import java.util.Arrays;

/** A search in class files, before anything parses them: of all classes that are loaded, few name one of Netty. */
final class Bytes {
    private Bytes() { }

    /** By Horspool's algorithm, which looks at a part of the bytes only: each class that is loaded waits for this. */
    static boolean contains(byte[] bytes, byte[] pattern) {
        int last = pattern.length - 1;
        byte[] skips = new byte[1 << Byte.SIZE];
        Arrays.fill(skips, (byte) pattern.length);
        for (int i = 0; i < last; i++) {
            skips[pattern[i] & 0xff] = (byte) (last - i);
        }
        for (int end = last; end < bytes.length; end += skips[bytes[end] & 0xff]) {
            int matching = 0;
            while (matching <= last && bytes[end - last + matching] == pattern[matching]) {
                matching++;
            }
            if (matching > last) {
                return true;
            }
        }
        return false;
    }
}
