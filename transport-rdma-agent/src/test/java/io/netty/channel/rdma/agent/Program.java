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
package io.netty.channel.rdma.agent;

import io.netty.channel.rdma.verbs.ChildJvm;
import unmodified.Several;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A JVM that runs a program of the package {@code unmodified}, which knows nothing of RDMA, with or without the agent.
 * Its class path has libraries alone, none of this project.
 */
final class Program {
    /** Jars that the programs must not see: this project, and the log and tools of the tests. */
    private static final List<String> NOT_THEIRS = List.of("netty-transport-rdma", "netty-transport-native-rdma",
            "logback", "spring-boot-loader", "junit", "assertj", "asm-", "opentest4j", "apiguardian", "byte-buddy");
    private static final Pattern EPOLL = Pattern.compile("netty-transport-(native-|classes-)(epoll|unix-common).*");
    /** Libraries choose io_uring if these are there. */
    private static final Pattern IO_URING = Pattern.compile("netty-transport-(native|classes)-io_uring.*");
    private static final Path TARGET = Path.of("target");
    static final Path CLASSES = TARGET.resolve("test-classes");
    /** Results of programs that have ended: several tests look at the same. */
    private static final Map<List<String>, ProgramResult> RESULTS = new ConcurrentHashMap<>();

    private final List<String> main;
    private final List<String> jvmOptions = new ArrayList<>();
    private final List<String> arguments = new ArrayList<>();
    private String agentOptions;
    private boolean epoll = true;
    private boolean ioUring;
    private Path netty;
    private boolean onlyClasses;

    private Program(List<String> main) {
        this.main = main;
    }

    static Program of(Class<?> main, String... arguments) {
        Program program = new Program(List.of(main.getName()));
        program.arguments.addAll(Arrays.asList(arguments));
        return program;
    }

    /** Programs in one JVM, one after the other: {@link ProgramResult#of}. */
    static Program several(Collection<String> programs) {
        return of(Several.class, programs.toArray(new String[0]));
    }

    /** One that brings its libraries, and names its class. */
    static Program ofJar(Path jar) {
        return new Program(List.of("-jar", jar.toString()));
    }

    /** One that finds its libraries beside it. */
    static Program ofFolder(Path folder, String main) {
        return new Program(List.of("-cp", folder.toString(), main));
    }

    /** With the agent and its option {@code verbose}, so that there is a summary, and these. */
    Program withAgent(String... options) {
        agentOptions = Stream.concat(Stream.of("verbose"), Arrays.stream(options)).collect(Collectors.joining(","));
        return this;
    }

    /** Without Netty's epoll transport on the class path. */
    Program withoutEpoll() {
        epoll = false;
        return this;
    }

    /** With Netty's io_uring transport on the class path. */
    Program withIoUring() {
        ioUring = true;
        return this;
    }

    /** With the jars of Netty in a folder of {@code target} in place of those of the same name. */
    Program withNetty(String folder) {
        netty = TARGET.resolve(folder);
        return this;
    }

    /** Without libraries on the class path. */
    Program withoutLibraries() {
        onlyClasses = true;
        return this;
    }

    Program withJvmOption(String... option) {
        jvmOptions.addAll(Arrays.asList(option));
        return this;
    }

    /** The agent's jar, as the build has made it. */
    static Path agentJar() {
        try (Stream<Path> files = Files.list(TARGET)) {
            List<Path> jars = files.filter(file -> file.getFileName().toString()
                    .matches("netty-transport-rdma-agent-[^-]*(-SNAPSHOT)?\\.jar")).toList();
            assertThat(jars).as("made by the build").hasSize(1);
            return jars.get(0);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The libraries that a program has. */
    String classPath() {
        Predicate<Path> theirs = jar -> NOT_THEIRS.stream().noneMatch(jar.getFileName().toString()::startsWith);
        List<Path> jars = new ArrayList<>(Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of).filter(jar -> jar.getFileName().toString().endsWith(".jar")).filter(theirs).toList());
        if (netty != null) {
            try (Stream<Path> files = Files.list(netty)) {
                List<Path> others = files.toList();
                jars.removeIf(jar -> artifact(jar).startsWith("netty-"));
                jars.addAll(others);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
        if (!ioUring) {
            jars.removeIf(jar -> IO_URING.matcher(jar.getFileName().toString()).matches());
        }
        if (!epoll) {
            jars.removeIf(jar -> EPOLL.matcher(jar.getFileName().toString()).matches());
        }
        return CLASSES + File.pathSeparator +
                jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private static String artifact(Path jar) {
        return jar.getFileName().toString();
    }

    /** Returns its output, when it has ended by itself, or that of an earlier run. */
    ProgramResult run() throws IOException, InterruptedException {
        List<String> command = command();
        ProgramResult result = RESULTS.get(command);
        if (result == null) {
            try (RunningProgram program = new RunningProgram(command)) {
                result = program.end();
            }
            RESULTS.put(command, result);
        }
        return result;
    }

    RunningProgram start() throws IOException {
        return new RunningProgram(command());
    }

    private List<String> command() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx128m");
        command.addAll(ChildJvm.SHORT_LIVED);
        command.add("-Dio.netty.rdma.provider=" + System.getProperty("io.netty.rdma.provider", "auto"));
        command.addAll(jvmOptions);
        if (agentOptions != null) {
            command.add("-javaagent:" + agentJar() + '=' + agentOptions);
        }
        if (main.size() == 1) {
            command.addAll(List.of("-cp", onlyClasses ? CLASSES.toString() : classPath()));
        }
        command.addAll(main);
        command.addAll(arguments);
        return command;
    }
}
