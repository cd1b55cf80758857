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
package io.netty.channel.rdma.netty;

import io.netty.channel.rdma.TestScope;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.ChildJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Netty's own tests of NIO and of epoll, as they are, in a JVM with the agent: each has the result that it has in a JVM
 * without it, or there is a row in {@code docs/testsuite.md} with the reason. The class path has libraries only,
 * none of this project.
 */
class NettyTestsWithAgentTest {
    private static final Path PAGE = Path.of("../docs/testsuite.md");
    private static final Path LOG = Path.of("../transport-rdma/src/test/resources/logback-test.xml");
    private static final String HEADING = "## Netty's tests with the agent";
    private static final Pattern ROW = Pattern.compile("\\| `(\\w+(?:\\.\\w+)?)` \\| (\\S.*) \\|");
    /** The beginning of the reason for a test that has either result. */
    private static final String BY_TIME = "It depends on time: ";
    private static final List<String> NOT_THEIRS =
            List.of("netty-transport-rdma", "netty-transport-native-rdma", "byte-buddy-agent");
    private static final String AGENT = "netty-transport-rdma-agent-";
    private static final Pattern BYTES =
            Pattern.compile("netty-transport-rdma-agent: count bytesSent(?:InPlace|Inline|Copied): (\\d+)");
    private static final List<String> INHERITED = List.of("io.netty.rdma.provider", "io.netty.testsuite.badHost",
            "io.netty.testsuite.badPort", "java.io.tmpdir");
    /** Packages and classes: the testsuite, tests of NIO and of event loops in the jar of the transport's, epoll's. */
    private static final List<String> SELECTED = List.of("io.netty.testsuite.transport.socket",
            "io.netty.testsuite.transport.NioEventLoopTest", "io.netty.channel.nio", "io.netty.channel.socket.nio",
            "io.netty.bootstrap", "io.netty.channel.ManualIoEventLoopTest",
            "io.netty.channel.MultiThreadIoEventLoopGroupTest", "io.netty.channel.SingleThreadEventLoopTest",
            "io.netty.channel.SingleThreadIoEventLoopTest", "io.netty.channel.epoll");
    private static final String LEFT_OUT_BY_DEFAULT = "|.*Ssl.*|.*StartTls|.*Datagram.*|ManualEventLoop|Native|" +
            "LinuxSocket|Epoll(?!Socket(CloseForcibly|Connect|Echo|GatheringWrite|HalfClosed|Rst)Test).*";
    private static final String LEFT_OUT =
            ".*SslEcho|.*SslClientRenegotiate|SocketSslLargeCertificate|TrafficShapingHandler";
    private static final String FAILED = "failed";
    /** A test that waits for what does not come has none of its own, or a longer one. */
    private static final long SECONDS_OF_A_TEST = TestTimeouts.SECONDS / 2;
    private static final long SECONDS_OF_ALL = 10 * TestTimeouts.SECONDS;

    @TempDir
    Path folder;

    @Test
    void eachHasTheResultThatItHasWithoutTheAgent() throws Exception {
        Results all = run("", SELECTED);
        assertThat(all.with.keySet()).isEqualTo(all.without.keySet());
        // Where all fail without the agent, none is different with it.
        assertThat(all.without.values()).filteredOn(result -> !kind(result).equals(FAILED)).hasSizeGreaterThan(50);
        Set<String> different = all.different();
        Map<String, String> rows = rows();
        Set<String> expected = new TreeSet<>();
        for (String test : all.with.keySet()) {
            String reason = rows.getOrDefault(name(test), rows.get(name(test).replaceAll("\\..*", "")));
            if (reason != null && (!reason.startsWith(BY_TIME) || different.contains(test))) {
                expected.add(test);
            }
        }
        if (!expected.containsAll(different)) {
            // Some of Netty's tests depend on time: on a busy machine one may fail with or without the agent.
            Results again = run("-again", different.stream().map(test -> test.replaceAll("\\.\\w+\\(.*", "")).distinct()
                    .collect(Collectors.toList()));
            different.removeIf(test -> !expected.contains(test) && !again.different().contains(test));
        }
        assertThat(different).as("tests with another result, and those with a row in %s: %s", PAGE, all)
                .isEqualTo(expected);
        assertThat(bytesOverRdma()).isPositive();
    }

    private Results run(String suffix, List<String> selected) throws Exception {
        Process without = start("without" + suffix, List.of(), selected);
        Process with = start("with" + suffix, List.of("-javaagent:" + agent() + "=verbose"), selected);
        try {
            return new Results(results(without, "without" + suffix), results(with, "with" + suffix));
        } finally {
            without.destroyForcibly();
            with.destroyForcibly();
        }
    }

    /** Results of tests without and with the agent, by class and method. */
    private record Results(Map<String, String> without, Map<String, String> with) {
        Set<String> different() {
            return without.keySet().stream().filter(test -> !kind(without.get(test)).equals(kind(with(test))))
                    .collect(Collectors.toCollection(TreeSet::new));
        }

        private String with(String test) {
            return with.getOrDefault(test, "not there");
        }

        @Override
        public String toString() {
            return different().stream().map(test -> String.format("%n%s%n  without: %s%n  with: %s", test,
                    without.get(test), with(test))).collect(Collectors.joining());
        }
    }

    private static String kind(String result) {
        return result.startsWith(FAILED) ? FAILED : result;
    }

    /** The reasons of the page's rows, by class or by class and method. */
    private static Map<String, String> rows() throws IOException {
        return Files.readAllLines(PAGE).stream().dropWhile(line -> !line.equals(HEADING)).skip(1)
                .takeWhile(line -> !line.startsWith("## ")).map(ROW::matcher).filter(Matcher::matches)
                .collect(Collectors.toMap(row -> row.group(1), row -> row.group(2)));
    }

    /** The simple name of the class of a test, and its method. */
    private static String name(String test) {
        return test.replaceAll("\\(.*", "").replaceAll(".*\\.(\\w+\\.\\w+)", "$1");
    }

    private long bytesOverRdma() throws IOException {
        return Files.readAllLines(folder.resolve("with.log")).stream().map(BYTES::matcher).filter(Matcher::matches)
                .mapToLong(count -> Long.parseLong(count.group(1))).sum();
    }

    private static String agent() {
        return classPath().filter(jar -> jar.getFileName().toString().startsWith(AGENT)).findFirst().orElseThrow()
                .toString();
    }

    private static Stream<Path> classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of)
                .filter(path -> path.toString().endsWith(".jar"));
    }

    /** A JVM that runs the tests. */
    private Process start(String name, List<String> jvmOptions, List<String> selected) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx512m");
        command.addAll(ChildJvm.SHORT_LIVED);
        command.addAll(jvmOptions);
        command.add("-Dlogback.configurationFile=" + LOG);
        // As in Netty's own build.
        command.add("-Dio.netty.bootstrap.extensions=serviceload");
        for (String property : INHERITED) {
            if (System.getProperty(property) != null) {
                command.add("-D" + property + '=' + System.getProperty(property));
            }
        }
        command.addAll(List.of("-cp", classPath()
                .filter(jar -> NOT_THEIRS.stream().noneMatch(jar.getFileName().toString()::startsWith))
                .map(Path::toString).collect(Collectors.joining(File.pathSeparator))));
        command.addAll(List.of("org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner",
                "--details=none", "--config=junit.jupiter.execution.timeout.default=" + SECONDS_OF_A_TEST + 's',
                "--reports-dir=" + folder.resolve(name)));
        selected.forEach(each -> command.add("--select-" + (each.endsWith("Test") ? "class=" : "package=") + each));
        command.add("--exclude-classname=.*\\.(" + LEFT_OUT + (TestScope.ALL ? "" : LEFT_OUT_BY_DEFAULT) + ")Test");
        return new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(folder.resolve(name + ".log").toFile()).start();
    }

    /** Results of all tests, by class and method. */
    private Map<String, String> results(Process process, String name) throws Exception {
        assertThat(process.waitFor(SECONDS_OF_ALL, TimeUnit.SECONDS)).as("it ends by itself").isTrue();
        Map<String, String> results = new TreeMap<>();
        NodeList cases = DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(folder.resolve(name).resolve("TEST-junit-jupiter.xml").toFile())
                .getElementsByTagName("testcase");
        for (int i = 0; i < cases.getLength(); i++) {
            Element test = (Element) cases.item(i);
            String result = test.getElementsByTagName("skipped").getLength() != 0 ? "skipped" : "passed";
            for (String failure : new String[] {"failure", "error"}) {
                NodeList failures = test.getElementsByTagName(failure);
                result = failures.getLength() == 0 ? result : FAILED + ": " + failures.item(0).getTextContent();
            }
            results.put(test.getAttribute("classname") + '.' + test.getAttribute("name"), result);
        }
        return results;
    }
}
