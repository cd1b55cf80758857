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

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.netty.channel.Channel;
import io.netty.channel.DefaultFileRegion;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Metadata for GraalVM's native-image, whose analysis does not see it, agrees with the sources: the C code,
 * for what it looks up by name; the classes, for what Netty makes by reflection. The image itself is not built
 * here: docs/compatibility.md.
 */
class NativeImageMetadataTest {
    private static final String ROOT = "io.netty.channel.rdma";
    private static final String FOLDER = "/META-INF/native-image/io.netty.contrib/netty-transport-rdma/";
    private static final Path C_SOURCES = Path.of("..", "transport-rdma-native", "src", "main", "c", "jni");
    private static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(ROOT);

    /** Classes that C finds by name or that have natives; fields that it looks up by name. */
    @Test
    void nativeCodeFindsItsClasses() throws Exception {
        String sources = sources();
        SortedMap<String, String> entries = new TreeMap<>();
        for (MatchResult registered : matches("JNI_CLASS\\(\\w+, \"([\\w/$]+)\"", sources)) {
            entries.put(ROOT + '.' + registered.group(1).replace('/', '.'), "");
        }
        assertThat(entries).isNotEmpty();
        assertThat(withNatives()).isEqualTo(entries.keySet());
        for (MatchResult found : matches("FindClass\\(env, \"([\\w/$]+)\"", sources)) {
            entries.put(found.group(1).replace('/', '.'), "");
        }
        List<MatchResult> fields = matches("field\\(env, \\w+, \"(\\w+)\", \"[^\"]+\"\\)", sources);
        entries.put(DefaultFileRegion.class.getName(), fields.stream().map(MatchResult::group)
                .map(text -> "{\"name\": \"" + text.replaceAll("^[^\"]*\"(\\w+)\".*", "$1") + "\"}")
                .collect(Collectors.joining(", ", ",\n    \"fields\": [", "]")));
        assertThat(metadata("jni-config.json")).isEqualTo(list(entries));
        /* Other look-ups by name have to be added above. */
        assertThat(matches("->(Get\\w*ID|FindClass|ThrowNew|NewObject|FromReflected\\w+)\\(", sources).stream()
                .map(match -> match.group(1)).sorted()).containsExactly("FindClass", "FindClass", "GetFieldID");
        for (MatchResult field : fields) {
            assertThat(DefaultFileRegion.class.getDeclaredField(field.group(1))).isNotNull();
        }
    }

    /** {@code Bootstrap.channel()} makes channels by their constructors. */
    @Test
    void nettyMakesChannelsOfEachClass() throws Exception {
        SortedMap<String, String> entries = new TreeMap<>();
        for (JavaClass type : ALL) {
            if (!type.isAssignableTo(Channel.class) || type.getModifiers().contains(JavaModifier.ABSTRACT)) {
                continue;
            }
            if (type.getConstructors().stream().anyMatch(constructor -> constructor.getRawParameterTypes().isEmpty()
                    && constructor.getModifiers().contains(JavaModifier.PUBLIC))) {
                entries.put(type.getName(), ",\n    \"methods\": [{\"name\": \"<init>\", \"parameterTypes\": []}]");
            }
        }
        assertThat(entries).containsKeys(RdmaSocketChannel.class.getName(), RdmaServerSocketChannel.class.getName());
        assertThat(metadata("reflect-config.json")).isEqualTo(list(entries));
    }

    /**
     * The metadata would have to name what such a lookup finds. {@code NioChannels}, which is for the agent of a JVM,
     * says that NIO's channels can't be on the loop if it finds nothing.
     */
    @Test
    void nothingElseIsLookedUpByName() {
        String lookups = "forName|getDeclared\\w+|getMethods?|getFields?|getConstructors?|getResource\\w*|newInstance";
        noClasses().that().doNotHaveFullyQualifiedName(ROOT + ".loop.NioChannels$HiddenField").should()
                .callMethodWhere(target(owner(belongToAnyOf(Class.class))).and(target(nameMatching(lookups))))
                .orShould().callMethodWhere(target(owner(belongToAnyOf(ServiceLoader.class)))).check(ALL);
    }

    @Test
    void theNativeLibraryAndItsVersionAreResources() throws Exception {
        List<MatchResult> patterns = matches("\"pattern\": \"([^\"]+)\"", metadata("resource-config.json"));
        String arch = System.getProperty("os.arch").equals("aarch64") ? "aarch_64" : "x86_64";
        String[] resources = {"META-INF/native/libnetty_transport_native_rdma_" + arch + ".so",
                "META-INF/netty-rdma.version"};
        assertThat(patterns).hasSameSizeAs(resources);
        for (int i = 0; i < resources.length; i++) {
            assertThat(NativeImageMetadataTest.class.getClassLoader().getResource(resources[i])).isNotNull();
            assertThat(resources[i]).matches(Pattern.compile(patterns.get(i).group(1).replace("\\\\", "\\")));
        }
    }

    private static SortedSet<String> withNatives() {
        return ALL.stream().filter(type -> type.getMethods().stream()
                        .anyMatch(method -> method.getModifiers().contains(JavaModifier.NATIVE)))
                .map(JavaClass::getName).collect(Collectors.toCollection(TreeSet::new));
    }

    private static String sources() throws IOException {
        try (Stream<Path> files = Files.list(C_SOURCES)) {
            StringBuilder text = new StringBuilder();
            for (Path file : files.filter(name -> name.toString().matches(".*\\.[ch]")).sorted().toList()) {
                text.append(Files.readString(file));
            }
            return text.toString();
        }
    }

    private static List<MatchResult> matches(String regex, String text) {
        return Pattern.compile(regex).matcher(text).results().toList();
    }

    private static String list(SortedMap<String, String> entries) {
        Function<String, String> entry = name -> "  {\n    \"condition\": {\"typeReachable\": \"" + ROOT
                + ".verbs.VerbsApi\"},\n    \"name\": \"" + name + '"' + entries.get(name) + "\n  }";
        return entries.keySet().stream().map(entry).collect(Collectors.joining(",\n", "[\n", "\n]\n"));
    }

    private static String metadata(String name) throws IOException {
        URL file = NativeImageMetadataTest.class.getResource(FOLDER + name);
        assertThat(file).as(name).isNotNull();
        try (InputStream in = file.openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
