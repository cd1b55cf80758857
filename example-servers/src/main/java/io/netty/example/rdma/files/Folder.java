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
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * The folder that is served. Clients can reach nothing outside of it.
 */
final class Folder {
    private final Path root;

    /** @throws IOException if it does not exist */
    Folder(Path root) throws IOException {
        this.root = root.toRealPath();
    }

    /**
     * Finds the file that a client asks for.
     *
     * @param path decoded path of the request
     * @return the path without symbolic links
     * @throws NoSuchFileException if there is no such file in the folder. For a client, files outside of it, by {@code
     *         ..} or a link, do not exist either
     */
    Path find(String path) throws IOException {
        if (!path.startsWith("/")) {
            throw new NoSuchFileException(path);
        }
        Path named;
        try {
            named = root.resolve(path.replaceFirst("^/+", "")).normalize();
        } catch (InvalidPathException e) {
            throw new NoSuchFileException(path, null, e.getReason());
        }
        // Checked before the file system is asked, whose answers would tell which files there are outside.
        if (!named.startsWith(root)) {
            throw new NoSuchFileException(path);
        }
        Path real = withoutLinks(named);
        if (!real.startsWith(root)) {
            throw new NoSuchFileException(path);
        }
        return real;
    }

    private static Path withoutLinks(Path named) throws IOException {
        try {
            return named.toRealPath();
        } catch (AccessDeniedException e) {
            throw e;
        } catch (FileSystemException e) {
            // Other errors count as well: a name is too long, a path goes on after a file, or its links form a loop.
            throw new NoSuchFileException(named.toString(), null, e.getReason());
        }
    }

    /** Path by which a client asks for a folder. */
    String pathOf(Path folder) {
        String relative = root.relativize(folder).toString();
        return relative.isEmpty() ? "/" : '/' + relative + '/';
    }
}
