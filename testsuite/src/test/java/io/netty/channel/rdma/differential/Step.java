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

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Step of a program. A step makes sense without the others, so any of them can be left out to find those that a failure
 * needs.
 */
sealed interface Step {
    /** On the thread that drives both ends. Returns when the step is done, but not all that follows from it. */
    void drive(Run run) throws Exception;

    /** A step of one end. */
    sealed interface Local extends Step {
        Side side();

        /** On the event loop of the end. */
        void perform(End end);

        @Override
        default void drive(Run run) throws Exception {
            run.end(side()).call(() -> perform(run.end(side())));
        }
    }

    // ---- output

    /** @param id which write it is; also the seed of its bytes. */
    record Write(Side side, int id, Source source, int length, boolean flush) implements Local {
        @Override
        public void perform(End end) {
            end.write(id, source, length, flush);
        }
    }

    /** From a thread that is not the event loop. */
    record WriteFromOutside(Side side, int id, Source source, int length) implements Local {
        @Override
        public void drive(Run run) {
            perform(run.end(side));
        }

        @Override
        public void perform(End end) {
            end.write(id, source, length, true);
        }
    }

    /**
     * Writes parts of one buffer, flushes them, and changes the buffer where the parts are not; then memory of this
     * size is used for something else.
     *
     * @param pieces     how many parts, whose ids follow each other.
     * @param registered whether the buffer is of the channel's allocator.
     */
    record WriteParts(Side side, int id, int pieces, int length, boolean registered, Change change)
            implements Local {
        @Override
        public void perform(End end) {
            end.writeParts(this);
        }
    }

    /** Changes of a buffer whose parts are being sent. */
    enum Change { NOTHING, GROW_BY_WRITING, SET_LARGER_CAPACITY, SET_SMALLER_CAPACITY, RELEASE }

    /** As soon as the write's promise succeeds, its memory is used for something else. */
    record WriteAndReuse(Side side, int id, Source source, int length) implements Local {
        @Override
        public void perform(End end) {
            end.writeAndReuse(id, source, length);
        }
    }

    /** Sends the first bytes of what was received and is held, without copying them; others if it is too little. */
    record WriteHeld(Side side, int id, int length) implements Local {
        @Override
        public void perform(End end) {
            end.writeHeld(id, length);
        }
    }

    record Flush(Side side) implements Local {
        @Override
        public void perform(End end) {
            end.channel().flush();
        }
    }

    record Cancel(Side side, int id) implements Local {
        @Override
        public void perform(End end) {
            end.cancel(id);
        }
    }

    // ---- input

    /** From now on received buffers are kept, or not any more. */
    record Hold(Side side, boolean hold) implements Local {
        @Override
        public void perform(End end) {
            end.hold(hold);
        }
    }

    record ReleaseHeld(Side side) implements Local {
        @Override
        public void perform(End end) {
            end.releaseHeld();
        }
    }

    /** On a thread that is not the event loop. */
    record ReleaseHeldOutside(Side side) implements Local {
        @Override
        public void drive(Run run) {
            perform(run.end(side));
        }

        @Override
        public void perform(End end) {
            end.releaseHeld();
        }
    }

    record AutoRead(Side side, boolean autoRead) implements Local {
        @Override
        public void perform(End end) {
            end.autoRead(autoRead);
        }
    }

    /** Reads without {@code autoRead}: by {@code read()}, whenever the one before is complete. */
    record ReadByHand(Side side) implements Local {
        @Override
        public void perform(End end) {
            end.readByHand();
        }
    }

    record ReadOnce(Side side) implements Local {
        @Override
        public void perform(End end) {
            end.readOnce();
        }
    }

    // ---- the rest

    record SetOption(Side side, ChannelOption<?> option, Object value) implements Local {
        @Override
        public void perform(End end) {
            end.setOption(option, value);
        }
    }

    /** Deregisters the channel and registers it with another event loop. */
    record Move(Side side, int loop) implements Local {
        @Override
        public void drive(Run run) throws Exception {
            run.end(side).move(run.loop(loop));
        }

        @Override
        public void perform(End end) {
            // Not from inside of a handler.
        }
    }

    record ShutdownOutput(Side side, int id) implements Local {
        @Override
        public void perform(End end) {
            end.shuttingOutput();
            end.operation("shutdownOutput " + id, end.socket().shutdownOutput());
        }
    }

    record ShutdownInput(Side side, int id) implements Local {
        @Override
        public void perform(End end) {
            end.shuttingInput();
            end.operation("shutdownInput " + id, end.socket().shutdownInput());
        }
    }

    record Close(Side side, int id) implements Local {
        @Override
        public void perform(End end) {
            end.closing(false);
            end.operation("close " + id, end.channel().close());
        }
    }

    /** A close without lingering: on TCP, RST. */
    record Reset(Side side, int id) implements Local {
        @Override
        public void perform(End end) {
            end.setOption(ChannelOption.SO_LINGER, 0);
            end.closing(true);
            end.operation("reset " + id, end.channel().close());
        }
    }

    /** Several steps in one turn of the event loop. */
    record Together(Side side, List<Local> steps) implements Local {
        @Override
        public void perform(End end) {
            steps.forEach(step -> step.perform(end));
        }
    }

    /** From inside of a handler or listener. */
    record On(Side side, Trigger trigger, List<Local> steps) implements Local {
        @Override
        public void drive(Run run) {
            perform(run.end(side));
        }

        @Override
        public void perform(End end) {
            end.install(this);
        }
    }

    // ---- both ends

    /** The steps are those of one end while the event loop of the other one does nothing, if they have one each. */
    record WhileHeldUp(Side heldUp, List<Local> steps) implements Step {
        @Override
        public void drive(Run run) throws Exception {
            CountDownLatch latch = new CountDownLatch(1);
            if (run.haveLoopsOfTheirOwn()) {
                run.end(heldUp).channel().eventLoop().execute(() -> {
                    try {
                        // Bounded, should the driver fail.
                        latch.await(Run.WAIT_SECONDS, TimeUnit.SECONDS);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
            }
            try {
                for (Local step : steps) {
                    step.drive(run);
                }
            } finally {
                latch.countDown();
            }
        }
    }

    /**
     * Waits until all that was flushed has arrived, where somebody reads, and the end behind it, and until promises of
     * that, and of closes, are done.
     */
    record Sync() implements Step {
        @Override
        public void drive(Run run) throws Exception {
            run.sync();
        }
    }

    /** Waits until this end knows that the other one has ended its output, or the connection. */
    record AwaitEnd(Side side) implements Step {
        @Override
        public void drive(Run run) throws Exception {
            run.awaitEnd(side);
        }
    }

    /** Time in which nothing happens. */
    record Idle(int millis) implements Step {
        @Override
        public void drive(Run run) throws InterruptedException {
            Thread.sleep(millis);
        }
    }
}
