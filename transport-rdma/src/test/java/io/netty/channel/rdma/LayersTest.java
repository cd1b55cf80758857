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
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.netty.channel.Channel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * The packages are layers, as docs/design.md shows them: each uses only those below it.
 */
@Tag("quick")
class LayersTest {
    private static final String ROOT = "io.netty.channel.rdma";

    private static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT);

    @Test
    void packagesUseOnlyThoseBelowThem() {
        layeredArchitecture().consideringOnlyDependenciesInLayers()
                .layer("monitor").definedBy(ROOT + ".monitor")
                .layer("verbs").definedBy(ROOT + ".verbs")
                .layer("stream").definedBy(ROOT + ".stream")
                .layer("memory").definedBy(ROOT + ".memory")
                .layer("loop").definedBy(ROOT + ".loop")
                .layer("move").definedBy(ROOT + ".loop.move")
                .layer("attempt").definedBy(ROOT + ".attempt")
                .layer("connection").definedBy(ROOT + ".connection")
                .layer("metrics").definedBy(ROOT + ".metrics")
                .layer("root").definedBy(ROOT)
                .layer("message").definedBy(ROOT + ".message")
                .layer("ortcp").definedBy(ROOT + ".ortcp")
                .whereLayer("monitor").mayNotAccessAnyLayer()
                .whereLayer("verbs").mayNotAccessAnyLayer()
                .whereLayer("stream").mayNotAccessAnyLayer()
                .whereLayer("attempt").mayOnlyAccessLayers("verbs")
                .whereLayer("memory").mayOnlyAccessLayers("verbs", "monitor")
                .whereLayer("loop").mayOnlyAccessLayers("verbs", "memory", "monitor")
                .whereLayer("move").mayOnlyAccessLayers("verbs", "loop")
                .whereLayer("connection").mayOnlyAccessLayers("verbs", "stream", "memory", "loop", "move", "monitor")
                .whereLayer("metrics").mayOnlyAccessLayers("verbs", "stream", "memory", "loop", "connection", "monitor")
                .whereLayer("root").mayOnlyAccessLayers("verbs", "stream", "memory", "loop", "move", "attempt",
                        "connection", "metrics", "monitor")
                .whereLayer("message").mayOnlyAccessLayers("verbs", "memory", "loop", "move", "connection", "metrics",
                        "root", "monitor")
                .whereLayer("ortcp").mayOnlyAccessLayers("verbs", "attempt", "root", "monitor")
                .ensureAllClassesAreContainedInArchitecture()
                .check(ALL);
    }

    @Test
    void packagesFormNoCircle() {
        slices().matching("io.netty.channel.(**)").should().beFreeOfCycles().check(ALL);
    }

    @Test
    void packagesBelowTheRootKnowNoChannel() {
        noClasses().that()
                .resideInAnyPackage(ROOT + ".monitor", ROOT + ".verbs", ROOT + ".stream", ROOT + ".memory",
                        ROOT + ".loop..", ROOT + ".attempt", ROOT + ".connection", ROOT + ".metrics")
                .should().dependOnClassesThat().areAssignableTo(Channel.class).check(ALL);
    }

    /** Packages below the root are not for applications. docs/api.md lists the public classes of the others. */
    @Test
    void packagesBelowTheRootShowOnlyWhatAnotherPackageUses() {
        classes().that()
                .resideInAnyPackage(ROOT + ".monitor", ROOT + ".stream", ROOT + ".memory", ROOT + ".loop..",
                        ROOT + ".attempt", ROOT + ".connection")
                .and().arePublic().and().areTopLevelClasses()
                .should(new ArchCondition<>("be used by another package") {
                    @Override
                    public void check(JavaClass item, ConditionEvents events) {
                        boolean used = item.getDirectDependenciesToSelf().stream()
                                .anyMatch(use -> !use.getOriginClass().getPackage().equals(item.getPackage()));
                        events.add(new SimpleConditionEvent(item, used, item.getName() + " is for its package only"));
                    }
                }).check(ALL);
    }
}
