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
package io.netty.example.rdma.files;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A part of a file, as the header {@code Range} asks for it (RFC 9110, section 14).
 *
 * @param first position of the first byte
 * @param last  position of the last byte
 */
record ByteRange(long first, long last) {
    /** Result for a requested range that lies outside of the file, or has no valid syntax. */
    static final ByteRange UNSATISFIABLE = new ByteRange(-1, -1);

    private static final String UNIT = "bytes=";
    /** A position of more digits is beyond the end of any file. */
    private static final Pattern RANGE = Pattern.compile("\\s*(\\d{0,18})-(\\d{0,18})\\s*");

    /**
     * Parses the header.
     *
     * @param header {@code null} if there is none
     * @return {@code null} for the whole file. A server may answer so as well to units other than bytes, and to several
     *         ranges at once
     */
    static ByteRange parse(String header, long fileBytes) {
        if (header == null || !header.regionMatches(true, 0, UNIT, 0, UNIT.length()) || header.indexOf(',') >= 0) {
            return null;
        }
        Matcher matcher = RANGE.matcher(header.substring(UNIT.length()));
        if (!matcher.matches()) {
            return UNSATISFIABLE;
        }
        String first = matcher.group(1);
        String last = matcher.group(2);
        if (first.isEmpty()) {
            // The range is this number of bytes at the end.
            long length = last.isEmpty() ? 0 : Math.min(Long.parseLong(last), fileBytes);
            return length == 0 ? UNSATISFIABLE : new ByteRange(fileBytes - length, fileBytes - 1);
        }
        long from = Long.parseLong(first);
        long to = last.isEmpty() ? fileBytes - 1 : Math.min(Long.parseLong(last), fileBytes - 1);
        return from <= to ? new ByteRange(from, to) : UNSATISFIABLE;
    }

    long length() {
        return last - first + 1;
    }

    /** Value of the header {@code Content-Range}. */
    String contentRange(long fileBytes) {
        return "bytes " + first + '-' + last + '/' + fileBytes;
    }
}
