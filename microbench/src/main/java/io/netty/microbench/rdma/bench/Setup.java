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
package io.netty.microbench.rdma.bench;

import io.netty.microbench.rdma.comparison.LimitProgram;
import io.netty.microbench.rdma.sample.Launcher;
import io.netty.microbench.rdma.verbs.Perftest;

import java.nio.file.Path;

/**
 * Common settings of the parts.
 *
 * @param launcher     starts processes
 * @param folder       for files, deleted in the end
 * @param limit        measures what the machine can do
 * @param noiseProgram takes cores from what is measured: see {@link NoiseProgram}
 * @param perftest     programs of others
 * @param scale        event loops of the part "scale"
 */
record Setup(Launcher launcher, Path folder, LimitProgram limit, Path noiseProgram, Perftest perftest,
             ScaleMeasurements.Loops scale) {
}
