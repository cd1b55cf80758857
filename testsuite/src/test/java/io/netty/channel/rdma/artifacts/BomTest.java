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
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The BOM has what a release has: the jars of the modules that are deployed, of one version.
 */
class BomTest {
    private static final Path ROOT = Path.of("..");
    private static final String BOM = "transport-rdma-bom";
    /** The artifact that has a jar for each platform, too. */
    private static final String NATIVE = "netty-transport-native-rdma";

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
        List<String> managed = new ArrayList<>();
        for (Node dependency : nodes(pom(ROOT.resolve(BOM)), "/project/dependencyManagement/dependencies/dependency")) {
            assertThat(text(dependency, "groupId")).isEqualTo("io.netty.contrib");
            assertThat(text(dependency, "version")).isEqualTo("${project.version}");
            managed.add(text(dependency, "artifactId") + ':' + text(dependency, "classifier"));
        }
        assertThat(managed).containsExactlyInAnyOrderElementsOf(expected);
    }

    /** They are the same text twice, as the BOM has no parent: what a parent manages, it would manage for its users. */
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

    private static Document pom(Path folder) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(folder.resolve("pom.xml").toFile());
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
