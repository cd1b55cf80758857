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
 * Measures the transport. This package has JMH benchmarks of single steps, run by {@code scripts/microbench}: they tell
 * where time goes, and which of two implementations is cheaper. The other packages measure whole programs, as an
 * application sees them. Each of them uses only those above it in this list:
 *
 * <pre>
 * count        scripts/bytecodes: the bytecodes of a round trip and of a connection
 * process      starts and controls Java processes, and measures their use of the machine
 * load         the measuring clients: a LoadClient for each example, with its Scenarios
 * sample       a server and a client on a transport (Pair), and which of their windows count (Settling)
 * report       results, tables, charts
 * comparison   ./run-example.sh echo and the other examples with a server: RDMA beside TCP
 * verbs        ./run-example.sh requests and the other verbs examples: both ends, some beside perftest
 * bench        ./run-bench.sh: all transports, and whether they reach their goals
 * </pre>
 *
 * The examples do not use this module.
 */
package io.netty.microbench.rdma;
