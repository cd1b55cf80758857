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
package io.netty.channel.rdma.verbs;

import java.util.ArrayList;
import java.util.List;

/**
 * Has one verbs call fail. Needs the native library that is made for this (the target {@code faulty} of its Makefile),
 * which the lane {@code faults} puts on the library path, where it is found before the one on the class path.
 */
public final class Faults {
    private static final List<Call> CALLS = new ArrayList<>();

    static {
        VerbsApi.preferred().provider();
        String[] names = names0();
        for (int i = 0; i < names.length; i++) {
            CALLS.add(new Call(i, names[i]));
        }
    }

    private Faults() {
    }

    /** The calls that can fail for want of a resource. */
    public static List<Call> calls() {
        return CALLS.stream().filter(call -> error0(call.index, 0) != 0).toList();
    }

    /** The call of this {@link Call#name() name}. */
    public static Call call(String name) {
        return CALLS.stream().filter(call -> call.name.equals(name)).findFirst().orElseThrow();
    }

    /** Counts calls anew, and has none fail. */
    public static void none() {
        plan0(-1, 0, false, 0);
    }

    /** Returns whether the planned call was made, and has failed. */
    public static boolean fired() {
        return fired0();
    }

    /** A function that is called. */
    public static final class Call {
        private final int index;
        private final String name;

        private Call(int index, String name) {
            this.index = index;
            this.name = name;
        }

        /** As the C function, without {@code ibv_} for those that are called through the context. */
        public String name() {
            return name;
        }

        /** Number of calls since the last plan. */
        public long count() {
            return calls0(index);
        }

        /** With how many errors it can fail. */
        public int errors() {
            int errors = 0;
            while (error0(index, errors) != 0) {
                errors++;
            }
            return errors;
        }

        /** The number of one of them. */
        public int error(int which) {
            return error0(index, which);
        }

        /**
         * Has it fail once from now on.
         *
         * @param occurrence which call of it, from 1.
         * @param error      with which of its errors.
         */
        public void fail(long occurrence, int error) {
            plan0(index, occurrence, false, error);
        }

        /** Has it fail from now on, with the first of its errors. */
        public void failAlways() {
            plan0(index, 1, true, 0);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static native String[] names0();

    private static native int error0(int call, int which);

    private static native void plan0(int call, long occurrence, boolean lasting, int error);

    private static native long calls0(int call);

    private static native boolean fired0();
}
