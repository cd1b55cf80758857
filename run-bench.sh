#!/usr/bin/env bash
#
# Copyright 2026 The Netty Project
#
# The Netty Project licenses this file to you under the Apache License,
# version 2.0 (the "License"); you may not use this file except in compliance
# with the License. You may obtain a copy of the License at:
#
#   https://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
#
# Usage: ./run-bench.sh [--no-install] [OPTION...]      (--help lists the options)
#
# Installs what is missing (packages.txt), builds, and measures the transports beside each other; ends with a table of
# what is to be reached, and whether it was. Needs no RDMA device: where there is none, the transport uses its embedded
# provider. With --rxe it measures in the guest with soft-RoCE.
. "$(dirname "${BASH_SOURCE[0]}")/scripts/common.sh"

install=yes
[ "${1-}" != --no-install ] || { install=no; shift; }
sections=(build bench)
[[ " $* " != *" --rxe "* ]] || sections+=(conformance rxe)
[ "$install" = no ] || "$ROOT/scripts/packages" install "${sections[@]}"
find_jdk || die "needs a JDK of at least version 17 (javac); set JAVA_HOME or install the packages of packages.txt"
build microbench
if [[ " $* " == *" --rxe "* ]]; then
    exec "$ROOT/testsuite/rxe/guest" --timeout 1500 --log "$ROOT/target/test-logs/rxe-bench" \
        -- "$ROOT/testsuite/rxe/bench" "$@"
fi
# Plots need no screen.
exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -Djava.awt.headless=true \
    -cp "$ROOT/microbench/target/classes:$ROOT/microbench/target/lib/*" io.netty.microbench.rdma.bench.Bench \
    --limit-program "$ROOT/transport-rdma-native/target/c/shm_limit" \
    --noise-program "$ROOT/transport-rdma-native/target/c/noise" "$@"
