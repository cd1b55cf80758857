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
package io.netty.channel.rdma.netty;

import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.Set;

/**
 * Gives a test of Netty's traffic shaping, which is about how much time passes between two messages, further attempts
 * if that was too little. A machine that is busy with something else delays the first of the two and not the second, on
 * any transport: Netty's issues 2765 and 2859. Any other failure is one at once.
 */
final class ShortIntervalRetry implements TestExecutionExceptionHandler {
    private static final int ATTEMPTS = 3;

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        Throwable last = failure;
        for (int attempt = 1; isShortInterval(last) && attempt < ATTEMPTS; attempt++) {
            try {
                context.getRequiredTestMethod().invoke(context.getRequiredTestInstance(), new Info(context));
                return;
            } catch (InvocationTargetException e) {
                last = e.getCause();
            }
        }
        throw last;
    }

    private static boolean isShortInterval(Throwable failure) {
        return failure instanceof AssertionError && failure.getMessage() != null &&
                failure.getMessage().contains("The interval of time is incorrect:");
    }

    private record Info(ExtensionContext context) implements TestInfo {
        @Override
        public String getDisplayName() {
            return context.getDisplayName();
        }

        @Override
        public Set<String> getTags() {
            return context.getTags();
        }

        @Override
        public Optional<Class<?>> getTestClass() {
            return context.getTestClass();
        }

        @Override
        public Optional<Method> getTestMethod() {
            return context.getTestMethod();
        }
    }
}
