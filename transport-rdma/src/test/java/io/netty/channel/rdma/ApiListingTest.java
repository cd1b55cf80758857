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

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The public API is what docs/api.md says.
 */
class ApiListingTest {
    private static final String ROOT = "io.netty.channel.rdma";
    private static final String VERBS = ROOT + ".verbs";
    private static final Set<String> PACKAGES = Set.of(ROOT, ROOT + ".message", ROOT + ".metrics",
            ROOT + ".ortcp");
    private static final Pattern CLASS = Pattern.compile("\\| `(\\w+)` \\| .+ \\|");

    private static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT);

    /** Full names, in the order of the page. */
    private final Set<String> forApplications = new LinkedHashSet<>();
    private final Set<String> forCallersOfVerbs = new LinkedHashSet<>();
    private final Set<String> forTheTransport = new LinkedHashSet<>();

    ApiListingTest() throws IOException {
        String heading = "";
        for (String line : Files.readAllLines(Path.of("..", "docs", "api.md"))) {
            if (line.startsWith("## ")) {
                heading = line.substring(3);
                continue;
            }
            Matcher row = CLASS.matcher(line);
            if (!row.matches()) {
                continue;
            }
            if (heading.startsWith(ROOT)) {
                forApplications.add(heading + '.' + row.group(1));
            } else if (heading.equals("Calling verbs without channels")) {
                forCallersOfVerbs.add(VERBS + '.' + row.group(1));
            } else {
                forTheTransport.add(ROOT + '.' + row.group(1));
            }
        }
    }

    @Test
    void everyPublicClassHasAReason() {
        Set<String> isPublic = ALL.stream()
                .filter(type -> (PACKAGES.contains(type.getPackageName()) || type.getPackageName().equals(VERBS)) &&
                        type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
                .map(JavaClass::getName).collect(Collectors.toCollection(TreeSet::new));
        Set<String> listed = new TreeSet<>(forApplications);
        listed.addAll(forCallersOfVerbs);
        listed.addAll(forTheTransport);
        assertThat(listed).isEqualTo(isPublic);
    }

    @Test
    void classesForApplicationsShowNoOthers() {
        List<String> shown = new ArrayList<>();
        Set<String> shownOfVerbs = new HashSet<>();
        for (String name : forApplications) {
            if (!PACKAGES.contains(packageOf(name))) {
                continue;
            }
            JavaClass type = ALL.get(name);
            Stream.concat(type.getCodeUnits().stream().filter(unit -> isPublic(unit.getModifiers()))
                            .flatMap(ApiListingTest::types),
                    type.getFields().stream().filter(field -> isPublic(field.getModifiers())).map(JavaField::getType))
                    .flatMap(used -> used.getAllInvolvedRawTypes().stream())
                    .map(used -> used.getBaseComponentType().getName().replaceFirst("\\$.*", ""))
                    .filter(used -> used.startsWith(ROOT))
                    .forEach(used -> {
                        if (!forApplications.contains(used)) {
                            shown.add(name + " shows " + used);
                        }
                        if (!PACKAGES.contains(packageOf(used))) {
                            shownOfVerbs.add(used);
                        }
                    });
        }
        assertThat(shown).isEmpty();
        assertThat(forApplications).filteredOn(name -> !PACKAGES.contains(packageOf(name)))
                .as("of verbs").allMatch(name -> isShown(name, shownOfVerbs));
    }

    /** The base class of byte streams is for another module, which is not on the class path. */
    @Test
    void publicForTheTransportIsWhatAnotherPackageUses() {
        assertThat(forTheTransport).filteredOn(name -> !name.equals(AbstractRdmaSocketChannel.class.getName()))
                .allMatch(name -> Stream.concat(ALL.get(name).getAllSubclasses().stream(),
                        ALL.get(name).getDirectDependenciesToSelf().stream().map(Dependency::getOriginClass))
                .anyMatch(user -> !user.getPackageName().equals(packageOf(name))));
    }

    /** The compiler refuses all others: {@code -Xlint:exports}. */
    @Test
    void onlyTheseShowClassesThatAreNotExported() throws IOException {
        assertThat(sourcesWith("@SuppressWarnings(\"exports\")")).isNotEmpty().allMatch(forTheTransport::contains);
    }

    /** The annotation is not in class files. */
    @Test
    void whatMayStillChangeIsMarked() throws IOException {
        Set<String> mayChange = new TreeSet<>(forCallersOfVerbs);
        mayChange.addAll(forTheTransport);
        assertThat(sourcesWith("\n@UnstableApi\n")).isEqualTo(mayChange);
    }

    private static Set<String> sourcesWith(String text) throws IOException {
        Path sources = Path.of("src", "main", "java");
        try (Stream<Path> files = Files.walk(sources)) {
            Set<String> found = new TreeSet<>();
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                if (Files.readString(file).contains(text)) {
                    found.add(sources.relativize(file).toString().replace('/', '.').replaceFirst("\\.java$", ""));
                }
            }
            return found;
        }
    }

    /** By one of these classes, or by one that is shown itself; or futures fail with it. */
    private static boolean isShown(String name, Set<String> shown) {
        return shown.contains(name) || ALL.get(name).isAssignableTo(Throwable.class) ||
                shown.stream().anyMatch(by -> ALL.get(by).getMethods().stream()
                .anyMatch(method -> method.getRawReturnType().getName().equals(name)));
    }

    private static Stream<JavaType> types(JavaCodeUnit unit) {
        return Stream.of(Stream.of(unit.getReturnType()), unit.getParameterTypes().stream(),
                unit.getExceptionTypes().stream().map(JavaType.class::cast)).flatMap(types -> types);
    }

    private static boolean isPublic(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) && !modifiers.contains(JavaModifier.SYNTHETIC);
    }

    private static String packageOf(String className) {
        return className.substring(0, className.lastIndexOf('.'));
    }
}
