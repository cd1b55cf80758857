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
package io.netty.channel.rdma;

import com.sun.source.util.JavacTask;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The Java code of a documentation page, which a test checks by one rule:
 * <ul>
 * <li>A block below {@code <!-- code of PATH -->} is a part of that file, which is compiled and run elsewhere.</li>
 * <li>A block that declares a class is a program. It is compiled, with its own imports.</li>
 * <li>All other blocks are the statements of one method, in their order. It is compiled with star imports, and with
 * declarations of the names that the page leaves to its reader. Of a block in the language {@code diff} these are the
 * lines without a minus, and once more, in a second method, those without a plus.</li>
 * </ul>
 */
public final class PageCode {
    private static final Path ROOT = Path.of("..");
    private static final Pattern FENCE = Pattern.compile("```(\\w*)");
    private static final Pattern CODE_OF = Pattern.compile("<!-- code of (\\S+) -->");
    private static final Pattern TYPE = Pattern.compile("((public|final|abstract) )*(class|interface|record|enum) .*");

    private final String name;
    private final List<String> lines;
    private final List<String> errors = new ArrayList<>();
    private final List<JavaFileObject> sources = new ArrayList<>();
    private final List<String> statements;
    private final List<String> before;
    private int blocks;

    private PageCode(String name) throws IOException {
        this.name = name;
        lines = Files.readAllLines(ROOT.resolve(name));
        statements = blank();
        before = blank();
    }

    /** All pages with Java code, relative to the root of the project. */
    static Stream<String> pages() throws IOException {
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of("README.md"), docs.map(page -> "docs/" + page.getFileName()))
                    .filter(page -> page.endsWith(".md") && hasCode(page)).sorted().toList().stream();
        }
    }

    private static boolean hasCode(String page) {
        try (Stream<String> lines = Files.lines(ROOT.resolve(page))) {
            return lines.anyMatch(line -> line.equals("```java") || line.equals("```diff"));
        } catch (IOException e) {
            throw new AssertionError(page, e);
        }
    }

    /**
     * Checks a page.
     *
     * @param page         its path from the root of the project
     * @param declarations fields, methods and classes that its statements use
     * @param packages     packages that its statements import
     * @return what is wrong, each with the page's line; empty if nothing is
     */
    public static List<String> errors(String page, String declarations, List<String> packages) throws IOException {
        PageCode code = new PageCode(page);
        code.read();
        if (code.blocks == 0) {
            return List.of(page + ": no code");
        }
        String imports = packages.stream().map(each -> "import " + each + ".*; ").collect(Collectors.joining());
        code.addMethod("Page", imports, declarations, code.statements);
        code.addMethod("Before", imports, declarations, code.before);
        code.compile();
        return code.errors;
    }

    private List<String> blank() {
        return new ArrayList<>(Collections.nCopies(lines.size(), ""));
    }

    private void read() throws IOException {
        for (int i = 0; i < lines.size(); i++) {
            Matcher fence = FENCE.matcher(lines.get(i));
            if (!fence.matches()) {
                continue;
            }
            int begin = i + 1;
            int end = begin + lines.subList(begin, lines.size()).indexOf("```");
            if (fence.group(1).equals("java")) {
                blocks++;
                java(begin, end);
            } else if (fence.group(1).equals("diff")) {
                blocks++;
                diff(begin, end, '-', statements);
                diff(begin, end, '+', before);
            }
            i = end;
        }
    }

    private void java(int begin, int end) throws IOException {
        List<String> block = lines.subList(begin, end);
        Matcher codeOf = CODE_OF.matcher(begin > 1 ? lines.get(begin - 2) : "");
        if (codeOf.matches()) {
            String file = codeOf.group(1);
            if (!flat(Files.readAllLines(ROOT.resolve(file))).contains(flat(block))) {
                errors.add(name + ':' + (begin + 1) + ": not the code of " + file);
            }
        } else if (block.stream().anyMatch(line -> TYPE.matcher(line).matches())) {
            List<String> program = blank();
            for (int i = begin; i < end; i++) {
                program.set(i, lines.get(i));
            }
            sources.add(new Source("Program" + begin, program));
        } else {
            for (int i = begin; i < end; i++) {
                statements.set(i, lines.get(i));
            }
        }
    }

    /** The lines without their indentation, which differs between a page and a file. */
    private static String flat(List<String> lines) {
        return lines.stream().map(String::strip).collect(Collectors.joining("\n", "\n", "\n"));
    }

    private void diff(int begin, int end, char without, List<String> to) {
        for (int i = begin; i < end; i++) {
            String line = lines.get(i);
            if (!line.isEmpty() && line.charAt(0) != without) {
                to.set(i, line.substring(1));
            }
        }
    }

    /** The first line of a page is its title, so code never begins there, and the lines of errors are the page's. */
    private void addMethod(String className, String imports, String declarations, List<String> body) {
        List<String> source = new ArrayList<>(body);
        source.set(0, imports + "abstract class " + className + " { " + declarations.replace('\n', ' ')
                + " void statements() throws Exception {");
        source.add("}}");
        sources.add(new Source(className, source));
    }

    private void compile() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        ((JavacTask) compiler.getTask(null, null, found, List.of("-proc:none"), null, sources)).analyze();
        for (Diagnostic<? extends JavaFileObject> each : found.getDiagnostics()) {
            if (each.getKind() == Diagnostic.Kind.ERROR) {
                errors.add(name + ':' + each.getLineNumber() + ": " + each.getMessage(Locale.ENGLISH));
            }
        }
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String className, List<String> lines) {
            super(URI.create("string:///" + className + ".java"), Kind.SOURCE);
            text = String.join("\n", lines);
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }

        /** A public class may have any name. */
        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return kind == Kind.SOURCE;
        }
    }
}
