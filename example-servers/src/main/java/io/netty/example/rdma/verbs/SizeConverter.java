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
package io.netty.example.rdma.verbs;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sizes in bytes on the command line: {@code 100}, {@code 64K}, {@code 1M}.
 */
public final class SizeConverter implements ITypeConverter<Integer> {
    private static final Pattern SIZE = Pattern.compile("(\\d{1,9})([kKmM]?)");

    @Override
    public Integer convert(String value) {
        Matcher matcher = SIZE.matcher(value);
        if (matcher.matches()) {
            String unit = matcher.group(2);
            int shift = unit.isEmpty() ? 0 : unit.equalsIgnoreCase("k") ? 10 : 20;
            long bytes = Long.parseLong(matcher.group(1)) << shift;
            if (bytes <= Integer.MAX_VALUE) {
                return (int) bytes;
            }
        }
        throw new TypeConversionException("'" + value + "' is no size (expected: for example 100, 64K or 1M)");
    }
}
