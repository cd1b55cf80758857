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

import io.netty.example.rdma.http.HttpLimits;
import io.netty.example.rdma.http.HttpServerInitializer;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ServerOptions;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * A server of static files. Runs until it is killed.
 */
@Command(name = "files-server", description = "Serves the files of a folder by HTTP/1.1.")
public final class FileServer implements Callable<Integer> {
    private static final int MAX_MAPPED_FILES = 256;
    /** Limit for bodies of requests. The requests of this server have none. */
    private static final long MAX_BODY_BYTES = 64 * 1024;

    @Mixin
    private ServerOptions server;

    @Option(names = "--root", defaultValue = ".", description = "The folder (default: the current one).")
    private Path root;

    @Option(names = "--files", defaultValue = "region",
            description = "How files are sent: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private FileMode mode;

    @Option(names = "--list", description = "List the files of folders that have no index.html.")
    private boolean listFolders;

    public static void main(String[] args) {
        System.exit(Commands.run(new FileServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        SslContextBuilder tls = server.sslContext();
        return server.serve("files of " + root.toRealPath(),
                initializer(tls == null ? null : tls.build(), new HttpLimits(server.idleMillis(), MAX_BODY_BYTES), root,
                        listFolders, mode));
    }

    /**
     * The pipeline of the server.
     *
     * @throws IOException if there is no such folder
     */
    static HttpServerInitializer initializer(SslContext ssl, HttpLimits limits, Path root, boolean listFolders,
                                             FileMode mode) throws IOException {
        Folder folder = new Folder(root);
        MappedFiles mapped = mode == FileMode.MAPPED ? new MappedFiles(MAX_MAPPED_FILES) : null;
        return new HttpServerInitializer(ssl, limits,
                () -> new FileServerHandler(limits, folder, listFolders, mapped));
    }

    /** Ways in which the bytes of a file get to the transport. */
    public enum FileMode {
        /**
         * As a {@code FileRegion}: with TCP the kernel sends them without a copy to this process. With TLS they are
         * read piece by piece, because they have to be encrypted.
         */
        REGION,
        /** As buffers, which are the file mapped into memory. The file is not opened again while it is in the cache. */
        MAPPED;

        /** Returns the name on the command line. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
