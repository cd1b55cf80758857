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
package unmodified;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs a program of this package in class loaders of its own, each of which has a Netty. */
public final class InLoaders {
    private InLoaders() { }

    /** @param args the number of loaders, their class path, the name of the program, its arguments. */
    public static void main(String... args) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String path : args[1].split(File.pathSeparator)) {
            urls.add(Path.of(path).toUri().toURL());
        }
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            URLClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
            Thread.currentThread().setContextClassLoader(loader);
            loader.loadClass(args[2]).getMethod("main", String[].class)
                    .invoke(null, (Object) List.of(args).subList(3, args.length).toArray(new String[0]));
        }
    }
}
