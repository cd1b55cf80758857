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
package io.netty.channel.rdma.stream;

import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two endpoints and the network between them, with everything that can happen happening in random order.
 */
final class Simulation {
    private final Endpoint a;
    private final Endpoint b;
    private final Random random;
    private final int maxWrite;
    private final boolean surprises;

    Simulation(Endpoint a, Endpoint b, long seed, int maxWrite, boolean surprises) throws StreamProtocolException {
        this.a = a;
        this.b = b;
        this.maxWrite = maxWrite;
        this.surprises = surprises;
        random = new Random(seed);
        SimulatedQueuePair.connect(a.queuePair(), b.queuePair());
        byte[] fromA = a.connectionData();
        byte[] fromB = b.connectionData();
        a.establish(fromB);
        b.establish(fromA);
    }

    /** Random steps; then everybody does what there is to do until nobody has anything to do, and all must be done. */
    void run(int steps) throws StreamProtocolException {
        for (int i = 0; i < steps; i++) {
            step(random.nextBoolean() ? a : b);
        }
        boolean did;
        do {
            did = drain(a);
            did |= drain(b);
        } while (did);
        assertThat(a.finished() && b.finished()).as("no deadlock; a: %s; b: %s", a, b).isTrue();
    }

    private void step(Endpoint endpoint) throws StreamProtocolException {
        switch (random.nextInt(surprises ? 60 : 50) / 10) {
        case 0:
            endpoint.produce(1 + random.nextInt(maxWrite));
            break;
        case 1:
            for (int i = random.nextInt(6); i > 0 && endpoint.queuePair().deliver(); i--) {
                continue;
            }
            break;
        case 2:
            endpoint.poll(1 + random.nextInt(5));
            break;
        case 3:
            endpoint.consume(random, false);
            break;
        case 4:
            endpoint.control();
            break;
        default:
            if (random.nextInt(10) == 0) {
                endpoint.surprise(random);
            }
            break;
        }
    }

    private boolean drain(Endpoint endpoint) throws StreamProtocolException {
        boolean did = false;
        while (endpoint.queuePair().deliver()) {
            did = true;
        }
        did |= endpoint.poll(Integer.MAX_VALUE);
        did |= endpoint.consume(random, true);
        did |= endpoint.control();
        return did | endpoint.produce(maxWrite);
    }
}
