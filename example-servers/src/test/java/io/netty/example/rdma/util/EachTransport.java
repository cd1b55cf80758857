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

import io.netty.channel.rdma.TestScope;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.stream.Stream;

/**
 * Arguments of a test of an example: the transports that all of them are for. The others are for the echo. By default
 * RDMA alone, as tests on the others are mostly tests of Netty.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(EachTransport.Source.class)
public @interface EachTransport {
    /**
     * Returns whether TCP is a part of the default, too: one test of a class, and each of code that is there for TCP.
     */
    boolean tcp() default false;

    final class Source implements ArgumentsProvider, AnnotationConsumer<EachTransport> {
        private static final List<Transport> ALL = List.of(Transport.RDMA, Transport.EPOLL, Transport.NIO);
        private boolean tcp;

        @Override
        public void accept(EachTransport annotation) {
            tcp = annotation.tcp();
        }

        @Override
        public Stream<? extends Arguments> provideArguments(ParameterDeclarations parameters,
                                                            ExtensionContext context) {
            return transports(tcp).map(Arguments::of);
        }

        private static Stream<Transport> transports(boolean tcp) {
            return TestScope.ALL ? ALL.stream() : ALL.stream().limit(tcp ? 2 : 1);
        }

        /** Each transport with each of these; TCP by default with the first of them. */
        public static Stream<Arguments> with(Object... others) {
            return transports(true).flatMap(transport -> Stream.of(others)
                    .limit(transport == Transport.RDMA || TestScope.ALL ? others.length : 1)
                    .map(other -> Arguments.of(transport, other)));
        }
    }
}
