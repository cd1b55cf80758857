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
/**
 * The leak checks that the tests of every module run under: a leaked reference counted object fails the build, and a
 * test class fails that leaves native objects, pinned memory or file descriptors behind.
 *
 * <p>{@code RecordingLeakDetector} is what Netty creates for each tracked type, by the property
 * {@code io.netty.customResourceLeakDetector}; {@code FailOnLeaks} collects the garbage after the last test and throws
 * if anything was reported. {@code CheckResources} counts before and after each class of tests, and gives the class
 * some time to settle. All are in the {@code test-jar} of this module.
 *
 * <p>Not counted is what a process opens once ({@code OpenedOnce} does it before the first class), and what is kept on
 * purpose: by event loops as long as they run, by the allocator for ever ({@code KeptResources}), by the JDK and the
 * embedded provider ({@code Descriptors}). Configuration parameters of JUnit, in the {@code junit-platform.properties}
 * of a module, tell the rest: classes that hold event loops in static fields, and what classes of Netty's testsuite
 * leave open themselves.
 */
package io.netty.channel.rdma.leakcheck;
