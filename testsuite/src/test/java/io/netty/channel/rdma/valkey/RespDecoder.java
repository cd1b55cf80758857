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
package io.netty.channel.rdma.valkey;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Cuts the bytes of a server into answers of RESP2 and RESP3, with all that is nested in them, and leaves each as it
 * is: Netty's codec would turn them into objects. Source: the RESP protocol specification of Valkey's documentation.
 */
final class RespDecoder extends ByteToMessageDecoder {
    /** Bytes of the present answer that were looked at. */
    private int seen;
    /** Number of values that the present answer still lacks. */
    private long lacking = 1;

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        while (lacking > 0) {
            int start = in.readerIndex() + seen;
            int end = ByteBufUtil.indexOf(in, start, in.writerIndex(), (byte) '\n');
            if (end < 0) {
                return;
            }
            byte kind = in.getByte(start);
            long more = 0;
            long content = 0;
            if ("*~>%|".indexOf(kind) >= 0) {
                // Maps and attributes count pairs, and attributes precede a value.
                more = Math.max(0, number(in, start, end)) * ("%|".indexOf(kind) >= 0 ? 2 : 1) + (kind == '|' ? 1 : 0);
            } else if ("$=!".indexOf(kind) >= 0) {
                long length = number(in, start, end);
                content = length < 0 ? 0 : length + 2;
            }
            if (in.writerIndex() - (end + 1) < content) {
                return;
            }
            seen = (int) (end + 1 + content - in.readerIndex());
            lacking += more - 1;
        }
        byte[] answer = new byte[seen];
        in.readBytes(answer);
        out.add(answer);
        seen = 0;
        lacking = 1;
    }

    /** The number between the kind of a value and the end of its line. */
    private static long number(ByteBuf in, int start, int end) {
        return Long.parseLong(in.toString(start + 1, end - start - 2, StandardCharsets.US_ASCII));
    }
}
