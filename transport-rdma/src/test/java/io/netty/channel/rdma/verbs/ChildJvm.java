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
package io.netty.channel.rdma.verbs;

import io.netty.channel.rdma.TestTimeouts;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Another JVM with this one's class path and provider. It is killed when closed.
 */
public final class ChildJvm implements AutoCloseable {
    /** For processes that live for some seconds, whose greatest cost is that of their start and of compiling. */
    public static final List<String> SHORT_LIVED = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    private static final Path SECOND = Path.of("../transport-rdma-native/target/c/second/libraries");
    private static final List<String> INHERITED = Arrays.asList("java.library.path", "io.netty.rdma.provider",
            "io.netty.rdma.test.address", "test.timeout.multiplier");

    private final Process process;
    private final BufferedReader output;

    /**
     * A JVM that has both providers. Where there is an RDMA device, that is the kernel's verbs and the embedded
     * provider. Elsewhere libibverbs and librdmacm are those of the target {@code second} of the native library's
     * Makefile: another copy of the embedded provider, whose processes meet only each other.
     */
    public static ChildJvm withBothProviders(Class<?> main, List<String> properties, String... arguments)
            throws IOException {
        return withBothProviders(Collections.emptyList(), main, properties, arguments);
    }

    /**
     * As above.
     *
     * @param launcher a command that runs another one, which is appended to it.
     */
    public static ChildJvm withBothProviders(List<String> launcher, Class<?> main, List<String> properties,
            String... arguments) throws IOException {
        List<String> command = new ArrayList<>(launcher);
        if (VerbsApi.preferred().provider() != VerbsProvider.IBVERBS) {
            assertThat(SECOND.resolve("librdmacm.so.1")).as("made by the build of transport-rdma-native").exists();
            command.addAll(List.of("env", "LD_LIBRARY_PATH=" + SECOND.toAbsolutePath().normalize()));
        }
        return new ChildJvm(command, main, properties, arguments);
    }

    /**
     * @param properties {@code name=value}; they replace inherited ones, and {@code java.class.path}.
     */
    public ChildJvm(Class<?> main, List<String> properties, String... arguments) throws IOException {
        this(Collections.emptyList(), main, properties, arguments);
    }

    /**
     * As above.
     *
     * @param launcher a command that runs another one, which is appended to it.
     */
    public ChildJvm(List<String> launcher, Class<?> main, List<String> properties, String... arguments)
            throws IOException {
        this(System.getProperty("java.class.path"), launcher, main, properties, arguments);
    }

    /** A JVM without the jar, or jars, whose file name begins so. */
    public static ChildJvm without(String jar, Class<?> main, String... arguments) throws IOException {
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(path -> !new File(path).getName().startsWith(jar))
                .collect(Collectors.joining(File.pathSeparator));
        return new ChildJvm(classPath, Collections.emptyList(), main, Collections.emptyList(), arguments);
    }

    private ChildJvm(String classPath, List<String> launcher, Class<?> main, List<String> properties,
            String... arguments) throws IOException {
        List<String> command = new ArrayList<>(launcher);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx64m");
        command.addAll(SHORT_LIVED);
        command.add("-cp");
        command.add(classPath);
        for (String name : INHERITED) {
            if (System.getProperty(name) != null) {
                command.add("-D" + name + '=' + System.getProperty(name));
            }
        }
        properties.forEach(property -> command.add("-D" + property));
        command.add(main.getName());
        command.addAll(Arrays.asList(arguments));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    public long pid() {
        return process.pid();
    }

    /** The rest of the line of the output that starts with this word. */
    public String line(String word) throws IOException {
        Future<?> limit = limit();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith(word + ' ')) {
                limit.cancel(false);
                return line.substring(word.length() + 1);
            }
        }
        throw new AssertionError("the other JVM ended, or was ended, without a line '" + word + '\'');
    }

    /** Kills the process after a while, so that nobody waits for its output any more. */
    private Future<?> limit() {
        return GlobalEventExecutor.INSTANCE.schedule(() -> {
            process.toHandle().destroyForcibly();
        }, 4 * TestTimeouts.SECONDS, TimeUnit.SECONDS);
    }

    /** Everything that it prints until its end, which must be a good one. */
    public String output() throws Exception {
        return output(0);
    }

    /** As above, with this exit status. */
    public String output(int status) throws Exception {
        StringBuilder text = new StringBuilder();
        Future<?> limit = limit();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            text.append(line).append('\n');
        }
        limit.cancel(false);
        assertThat(process.waitFor(2 * TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(text.toString()).isEqualTo(status);
        return text.toString();
    }

    /** SIGTERM: it may do something before it ends. */
    public void terminate() {
        // Process.destroy() would close the output, too.
        process.toHandle().destroy();
    }

    /** Sends it a signal: {@code STOP}, for example. */
    public void signal(String name) throws Exception {
        // The shell's own: kill(1) is in a package of its own, which a small system lacks.
        Process kill = new ProcessBuilder("sh", "-c", "kill -s " + name + ' ' + process.pid()).inheritIO().start();
        assertThat(kill.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }

    /** SIGKILL. Returns when it is dead. */
    public void kill() {
        process.destroyForcibly();
        process.onExit().orTimeout(TestTimeouts.SECONDS, TimeUnit.SECONDS).join();
    }

    @Override
    public void close() {
        kill();
    }
}
