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

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The index of a folder, for people.
 */
final class Listing {
    private Listing() {
    }

    static String of(Path folder, String title) throws IOException {
        List<Path> files;
        try (var all = Files.list(folder)) {
            files = all.sorted().toList();
        }
        StringBuilder html = new StringBuilder("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>")
                .append(escape(title)).append("</title></head><body><ul>\n");
        for (Path file : files) {
            String name = file.getFileName() + (Files.isDirectory(file) ? "/" : "");
            html.append("<li><a href=\"").append(escape(encode("./" + name))).append("\">").append(escape(name))
                .append("</a></li>\n");
        }
        return html.append("</ul></body></html>\n").toString();
    }

    /** A path as in a URI. */
    static String encode(String path) {
        try {
            return new URI(null, null, path, null).toASCIIString();
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(path, e);
        }
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
