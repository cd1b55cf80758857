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
package io.netty.channel.rdma.differential;

import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.differential.Program.Pipeline;
import io.netty.channel.rdma.differential.Program.Setup;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Leaves out what a failure does not need, as long as there is time. */
final class Shrinker {
    private static final long NANOS = TimeUnit.SECONDS.toNanos(45L * TestTimeouts.MULTIPLIER);

    private final Predicate<Program> fails;
    private final long deadline = System.nanoTime() + NANOS;
    private Program program;

    /** @param fails whether a program fails in the same way. */
    Shrinker(Program program, Predicate<Program> fails) {
        this.program = program;
        this.fails = fails;
    }

    /** The smallest program that was found. */
    Program shrink() {
        for (int size = Integer.MAX_VALUE; size > 0 && isTime();) {
            size = program.steps().size() + options();
            leaveOutSteps();
            for (int i = 0; i < program.steps().size(); i++) {
                shrinkStep(i);
            }
            shrinkSetup();
            if (program.steps().size() + options() == size) {
                break;
            }
        }
        return program;
    }

    private int options() {
        return program.setup().client().size() + program.setup().server().size() + program.setup().rdma().size();
    }

    private boolean isTime() {
        return System.nanoTime() - deadline < 0;
    }

    private boolean attempt(Program smaller) {
        if (isTime() && fails.test(smaller)) {
            program = smaller;
            return true;
        }
        return false;
    }

    private boolean attempt(List<Step> steps) {
        return attempt(new Program(program.seed(), program.setup(), steps));
    }

    private void leaveOutSteps() {
        for (int length = program.steps().size() + 1 >> 1; length > 0; length >>= 1) {
            for (int i = 0; i + length <= program.steps().size() && isTime();) {
                List<Step> steps = new ArrayList<>(program.steps());
                steps.subList(i, i + length).clear();
                if (!attempt(steps)) {
                    i += length;
                }
            }
        }
    }

    /** Leaves out what a step consists of. */
    private void shrinkStep(int index) {
        for (int i = 0; i < parts(program.steps().get(index)).size() && isTime();) {
            List<Step.Local> parts = new ArrayList<>(parts(program.steps().get(index)));
            parts.remove(i);
            List<Step> steps = new ArrayList<>(program.steps());
            steps.set(index, with(steps.get(index), parts));
            if (parts.isEmpty() || !attempt(steps)) {
                i++;
            }
        }
    }

    private static List<Step.Local> parts(Step step) {
        if (step instanceof Step.Together together) {
            return together.steps();
        }
        if (step instanceof Step.On on) {
            return on.steps();
        }
        return step instanceof Step.WhileHeldUp heldUp ? heldUp.steps() : List.of();
    }

    private static Step with(Step step, List<Step.Local> parts) {
        if (step instanceof Step.Together together) {
            return new Step.Together(together.side(), parts);
        }
        if (step instanceof Step.On on) {
            return new Step.On(on.side(), on.trigger(), parts);
        }
        return new Step.WhileHeldUp(((Step.WhileHeldUp) step).heldUp(), parts);
    }

    private void shrinkSetup() {
        Setup setup = program.setup();
        attemptSetup(new Setup(setup.listening(), setup.oneLoop(), Pipeline.PLAIN, setup.client(), setup.server(),
                setup.rdma()));
        for (ChannelOption<?> option : List.copyOf(setup.client().keySet())) {
            Setup old = program.setup();
            attemptSetup(new Setup(old.listening(), old.oneLoop(), old.pipeline(), without(old.client(), option),
                    old.server(), old.rdma()));
        }
        for (ChannelOption<?> option : List.copyOf(setup.server().keySet())) {
            Setup old = program.setup();
            attemptSetup(new Setup(old.listening(), old.oneLoop(), old.pipeline(), old.client(),
                    without(old.server(), option), old.rdma()));
        }
        for (ChannelOption<?> option : List.copyOf(setup.rdma().keySet())) {
            Setup old = program.setup();
            attemptSetup(new Setup(old.listening(), old.oneLoop(), old.pipeline(), old.client(), old.server(),
                    without(old.rdma(), option)));
        }
    }

    private void attemptSetup(Setup setup) {
        if (!setup.equals(program.setup())) {
            attempt(new Program(program.seed(), setup, program.steps()));
        }
    }

    private static Map<ChannelOption<?>, Object> without(Map<ChannelOption<?>, Object> options,
                                                         ChannelOption<?> option) {
        Map<ChannelOption<?>, Object> fewer = new HashMap<>(options);
        // The defaults of water marks are not the same on both transports.
        if (option != ChannelOption.WRITE_BUFFER_WATER_MARK) {
            fewer.remove(option);
        }
        return fewer;
    }
}
