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
package io.netty.microbench.rdma.process;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class ProcessUseTest {
    private static final long PID = ProcessHandle.current().pid();
    private static final int FILES = 200;

    @TempDir
    private Path folder;

    @Test
    void openFilesAreDescriptorsOfWhichThereIsALimit() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        InputStream[] streams = new InputStream[FILES];
        long before = ProcessUse.descriptors(PID);
        try {
            for (int i = 0; i < FILES; i++) {
                streams[i] = Files.newInputStream(file);
            }
            // Other threads of this process may close some of their own meanwhile.
            assertThat(ProcessUse.descriptors(PID)).isGreaterThan(before + FILES / 2)
                    .isLessThanOrEqualTo(ProcessUse.maxDescriptors(PID));
        } finally {
            for (InputStream stream : streams) {
                if (stream != null) {
                    stream.close();
                }
            }
        }
    }

    @Test
    void listOfCoresHasSingleOnesAndRanges() throws Exception {
        assertThat(ProcessUse.cores("Cpus_allowed_list:\t0,2-4,11-12")).containsExactly(0, 2, 3, 4, 11, 12);
        assertThat(ProcessUse.cores()).hasSizeGreaterThanOrEqualTo(1);
    }

    @Test
    void memoryIsInBytes() throws Exception {
        assertThat(ProcessUse.residentBytes(PID)).isGreaterThan(10 << 20);
        assertThat(ProcessUse.availableBytes()).isGreaterThan(10 << 20);
    }
}
