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

import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;

import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Date;
import java.util.concurrent.TimeUnit;

/**
 * A file at the time of a request, and whether the client has this version already (RFC 9110, section 13).
 *
 * @param size          bytes
 * @param modifiedNanos time of the last change, in nanoseconds since 1970
 */
record ServedFile(Path path, long size, long modifiedNanos) {
    private static final String WEAK = "W/";

    static ServedFile of(Path path, BasicFileAttributes attributes) {
        return new ServedFile(path, attributes.size(), attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS));
    }

    String etag() {
        return '"' + Long.toHexString(size) + '-' + Long.toHexString(modifiedNanos) + '"';
    }

    /** Time of the last change in whole seconds, as in HTTP. */
    private long modifiedSeconds() {
        return TimeUnit.NANOSECONDS.toSeconds(modifiedNanos);
    }

    String lastModified() {
        return DateFormatter.format(new Date(TimeUnit.SECONDS.toMillis(modifiedSeconds())));
    }

    /**
     * Evaluates the conditions of a request, in the order of RFC 9110, section 13.2.2.
     *
     * @return the status that answers the request alone, or {@code null} if the file is to be sent
     */
    HttpResponseStatus condition(HttpHeaders request) {
        String ifMatch = request.get(HttpHeaderNames.IF_MATCH);
        if (ifMatch != null ? !lists(ifMatch, false)
                : isModifiedSince(request.get(HttpHeaderNames.IF_UNMODIFIED_SINCE), false)) {
            return HttpResponseStatus.PRECONDITION_FAILED;
        }
        String ifNoneMatch = request.get(HttpHeaderNames.IF_NONE_MATCH);
        if (ifNoneMatch != null ? lists(ifNoneMatch, true)
                : !isModifiedSince(request.get(HttpHeaderNames.IF_MODIFIED_SINCE), true)) {
            return HttpResponseStatus.NOT_MODIFIED;
        }
        return null;
    }

    /** Returns whether {@code If-Range} allows a range: the client has the rest of the same version. */
    boolean isRangeValid(HttpHeaders request) {
        String ifRange = request.get(HttpHeaderNames.IF_RANGE);
        return ifRange == null || ifRange.trim().equals(etag()) || ifRange.trim().equals(lastModified());
    }

    private boolean lists(String tags, boolean weakly) {
        for (String tag : tags.split(",")) {
            String candidate = tag.trim();
            if (weakly && candidate.startsWith(WEAK)) {
                candidate = candidate.substring(WEAK.length());
            }
            if ("*".equals(candidate) || candidate.equals(etag())) {
                return true;
            }
        }
        return false;
    }

    /** Compares the time of a header. For a value that is no date, the result is {@code otherwise}. */
    private boolean isModifiedSince(String header, boolean otherwise) {
        Date date = header == null ? null : DateFormatter.parseHttpDate(header);
        return date == null ? otherwise : modifiedSeconds() > TimeUnit.MILLISECONDS.toSeconds(date.getTime());
    }
}
