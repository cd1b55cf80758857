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
# The lanes of run-tests.sh that run in the soft-RoCE guest. scripts/lanes.sh sources it.
RXE_MODULES=(transport-rdma transport-rdma-valkey testsuite example-servers microbench)

# The C tests on the guest's kernel, linked with the system's libraries. They have the same object files, except those
# for the embedded provider's inside.
lane_rxe_c() {
    local program all name programs=()
    all=$(programs_of '' print-system)
    for program in $all; do
        name=$(basename "$program")
        ! selected "${PATTERNS:-*_test}" "$name" "$name" || programs+=("$program")
    done
    # A selection may have none of them.
    [ "${#programs[@]}" != 0 ] || return 0
    needs_native
    build_task c build/native make_c '' programs
    build_task system build/c make_c '' system
    alone rxe-c guest build/system run_rxe_c "${programs[@]}"
}

run_rxe_c() { # PROGRAM...
    C_AGAIN=run_rxe_c run_in_guest 1800 "$ROOT/testsuite/rxe/c-tests" "$@"
}

# The Java tests of modules in the guest.
rxe_lane() { # LANE TAG MODULE...
    local lane=$1 tag=$2 module only='' classes
    shift 2
    ! is_apart "$tag" || only=$tag
    [ -z "$PATTERNS" ] || tag=$only
    classes=$(for module in "$@"; do
        echo "$module"
        # Left out in the guest: tests without I/O, tests of jqwik, tests that repeat others on RDMA channels, tests
        # that connect to the loopback address only, and benchmarks.
        java_classes "$module" "$tag" \
            | grep -vE '\.rdma\.(stream|leakcheck|bench)\.|\.valkey\.Valkey|\.channel\.epoll\.|BenchmarksTest' \
            | grep -vE 'RdmaOrTcpTestsuiteTest|NettyTestsWithAgentTest' || true
    done)
    # A selection may have none of them.
    [[ $classes = *.* ]] || return 0
    needs_java "$@"
    alone "$lane" guest build/java run_rxe "$only" $classes
}

run_rxe() { # TAG [MODULE CLASS...]...
    RXE_TAG=$1 JAVA_AGAIN="run_rxe '$1'" run_in_guest 5400 "$ROOT/testsuite/rxe/tests" "${@:2}"
}

run_in_guest() { # SECONDS COMMAND...
    local seconds=$1 status=0
    shift
    export C_AGAIN JAVA_AGAIN RXE_TAG TEST_SEED TEST_SECONDS TEST_ALL TASK LOGS
    mkdir -p "$LOGS/$TASK"
    "$ROOT/testsuite/rxe/guest" --timeout "$seconds" --log "$LOGS/$TASK" --env C_AGAIN --env JAVA_AGAIN --env RXE_TAG \
        --env TEST_SEED --env TEST_SECONDS --env TEST_ALL --env TASK --env LOGS -- "$@" || status=$?
    [ ! -e "$LOGS/$TASK/summary" ] || cat "$LOGS/$TASK/summary"
    # The guest failed, or its kernel reported a bug.
    [ "$status" != 125 ] || printf '%s\n' "! final $LANE guest 1" "@ $LANE 0 1 0"
    return "$status"
}

lane_rxe() {
    rxe_lane rxe '' "${RXE_MODULES[@]}"
}

lane_rxe_quick() {
    rxe_lane rxe-quick rxe-quick transport-rdma transport-rdma-valkey testsuite
}

lane_rxe_chaos() {
    rxe_lane rxe-chaos chaos testsuite
}

lane_rxe_differential() {
    rxe_lane rxe-differential differential testsuite
}

lane_rxe_valkey() {
    build_task valkey '' "$ROOT/testsuite/valkey/build"
    rxe_lane rxe-valkey valkey testsuite
}

for module in "${RXE_MODULES[@]}"; do
    eval "lane_rxe_${module//-/_}() { rxe_lane rxe-$module '' $module; }"
done
