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
package io.netty.channel.rdma.artifacts;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The BOM has the jars of all modules that are deployed, of one version, and a reader finds no other ones in the pages.
 */
class BomTest {
    private static final Path ROOT = Path.of("..");
    private static final String BOM = "transport-rdma-bom";
    /** The artifact that has a jar for each platform, too. */
    private static final String NATIVE = "netty-transport-native-rdma";
    private static final Pattern XML = Pattern.compile("(?s)\n```xml\n(.*?)\n```\n");

    private final XPath xpath = XPathFactory.newInstance().newXPath();

    @Test
    void managesEveryDeployedJar() throws Exception {
        List<String> expected = new ArrayList<>();
        for (String module : texts(pom(ROOT), "/project/modules/module")) {
            Document pom = pom(ROOT.resolve(module));
            String artifact = text(pom, "/project/artifactId");
            if (module.equals(BOM) || text(pom, "/project/properties/maven.deploy.skip").equals("true")) {
                continue;
            }
            expected.add(artifact + ':');
            if (artifact.equals(NATIVE)) {
                expected.add(artifact + ":linux-x86_64");
                expected.add(artifact + ":linux-aarch_64");
            }
        }
        assertThat(managed()).containsExactlyInAnyOrderElementsOf(expected);
    }

    /** The BOM repeats them, because it has no parent: it would pass a parent's managed versions on to its users. */
    @Test
    void hasTheVersionTheTimeAndTheMetadataOfTheProject() throws Exception {
        Document project = pom(ROOT);
        Document bom = pom(ROOT.resolve(BOM));
        assertThat(nodes(bom, "/project/parent")).isEmpty();
        for (String path : new String[] {"/project/groupId", "/project/version",
                "/project/properties/project.build.outputTimestamp", "/project/licenses/license/url",
                "/project/organization/name", "/project/developers/developer/name"}) {
            assertThat(text(bom, path)).as(path).isNotEmpty().isEqualTo(text(project, path));
        }
    }

    @Test
    void blocksOfPagesNameItsArtifactsAndTheVersionsOfTheProject() throws Exception {
        Set<String> found = new TreeSet<>();
        List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("README.md")));
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
            docs.filter(page -> page.toString().endsWith(".md")).forEach(pages::add);
        }
        for (Path page : pages) {
            Matcher block = XML.matcher(Files.readString(page));
            while (block.find()) {
                found.addAll(check(page, xml("<project>" + block.group(1) + "</project>")));
            }
        }
        assertThat(found).containsExactlyInAnyOrder("bom", "netty.version", "netty-transport-rdma:",
                NATIVE + ":linux-x86_64", "netty-transport-rdma-grpc:", "netty-transport-rdma-micrometer:",
                "netty-transport-rdma-reactor-netty:", "netty-transport-rdma-vertx:");
    }

    @ParameterizedTest
    @ValueSource(strings = {"transport", "servers"})
    void projectsOfConsumersNameItsArtifactsAndTheVersionsOfTheProject(String consumer) throws Exception {
        Path file = Path.of("consumer", consumer, "pom.xml");
        String text = Files.readString(file);
        for (Node property : nodes(xml(text), "/project/properties/*")) {
            text = text.replace("${" + property.getNodeName() + '}', property.getTextContent());
        }
        assertThat(check(file, xml(text))).contains("bom", "netty.version", NATIVE + ":linux-x86_64");
    }

    /** The artifacts and versions of this project and of Netty in a file. */
    private Set<String> check(Path file, Document document) throws Exception {
        Document project = pom(ROOT);
        String version = text(project, "/project/version");
        String netty = text(project, "/project/properties/netty.version");
        List<String> managed = managed();
        Set<String> found = new TreeSet<>();
        for (Node dependency : nodes(document, "//dependency")) {
            String artifact = text(dependency, "artifactId");
            String named = text(dependency, "version");
            if (artifact.equals("netty-bom")) {
                assertThat(named).as("netty-bom in " + file).isEqualTo(netty);
            } else if (text(dependency, "groupId").equals("io.netty.contrib")) {
                boolean bom = artifact.equals("netty-" + BOM);
                String name = bom ? "bom" : artifact + ':' + text(dependency, "classifier");
                assertThat(bom || managed.contains(name)).as(name + " in " + file + " is in the BOM").isTrue();
                assertThat(named).as(name + " in " + file).isIn("", version);
                found.add(name);
            }
        }
        for (String property : texts(document, "/project/properties/netty.version")) {
            assertThat(property).as("netty.version in " + file).isEqualTo(netty);
            found.add("netty.version");
        }
        return found;
    }

    private List<String> managed() throws Exception {
        List<String> managed = new ArrayList<>();
        for (Node dependency : nodes(pom(ROOT.resolve(BOM)), "/project/dependencyManagement/dependencies/dependency")) {
            assertThat(text(dependency, "groupId")).isEqualTo("io.netty.contrib");
            assertThat(text(dependency, "version")).isEqualTo("${project.version}");
            managed.add(text(dependency, "artifactId") + ':' + text(dependency, "classifier"));
        }
        return managed;
    }

    private static Document pom(Path folder) throws Exception {
        return xml(Files.readString(folder.resolve("pom.xml")));
    }

    private static Document xml(String text) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(text)));
    }

    private String text(Node from, String path) throws Exception {
        return xpath.evaluate(path, from);
    }

    private List<String> texts(Node from, String path) throws Exception {
        return nodes(from, path).stream().map(Node::getTextContent).toList();
    }

    private List<Node> nodes(Node from, String path) throws Exception {
        NodeList found = (NodeList) xpath.evaluate(path, from, XPathConstants.NODESET);
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            nodes.add(found.item(i));
        }
        return nodes;
    }
}
