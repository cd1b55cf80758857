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
package io.netty.example.rdma.util;

import io.netty.channel.rdma.TestTimeouts;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Programs of the distribution that know nothing of RDMA. They are of the section interop of packages.txt.
 */
public final class InstalledProgram {
    private InstalledProgram() {
    }

    /**
     * Runs a program to its good end, or skips the test if it is not installed.
     *
     * @param debianPackage that has it
     * @return what it prints
     */
    public static String run(String program, String debianPackage, String... arguments) throws Exception {
        Path path = Path.of("/usr/bin", program);
        assumeTrue(Files.isExecutable(path), "no " + program + ": apt-get install " + debianPackage);
        List<String> command = new ArrayList<>(List.of(path.toString()));
        command.addAll(List.of(arguments));
        Path output = Files.createTempFile(program, ".output");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)).as(program + " ended").isTrue();
            String text = Files.readString(output);
            assertThat(process.exitValue()).as(text).isZero();
            return text;
        } finally {
            process.destroyForcibly();
            Files.delete(output);
        }
    }

    /** Runs curl, which ends with an error if the server answers with one that {@code --fail} knows. */
    public static String curl(String... arguments) throws Exception {
        List<String> all = new ArrayList<>(
                List.of("-sS", "--noproxy", "*", "--max-time", String.valueOf(TestTimeouts.SECONDS)));
        all.addAll(List.of(arguments));
        return run("curl", "curl", all.toArray(new String[0]));
    }
}
