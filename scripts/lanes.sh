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
# The lanes of run-tests.sh. A lane is a function lane_<name> that prints, beside anything else, one line for each group
# of tests that ran: "@ NAME PASSED FAILED SKIPPED". A lane that exits with another status than 0 without any failure in
# those lines counts as one failure: something broke that is not a test.
C_SOURCES=$ROOT/transport-rdma-native/src/main/c
RXE_MODULES=(transport-rdma testsuite example-servers)
# Something of everything: verbs, channels, Netty's testsuite, peers that die or lie, TLS, an example, calls of gRPC.
RXE_QUICK=DataTransferTest,TwoProvidersTest,EveryPathTest,ConnectionTest,CompletionErrorTest,ArmingTest
RXE_QUICK+=,RdmaSocketChannelTest,RdmaServerSocketChannelTest,RdmaIoHandlerTest,RdmaSocketChannelReentrancyTest
RXE_QUICK+=,RdmaHostilePeerTest,RdmaConnectFailureTest,RdmaPeerDeathTest,RdmaStreamIntegrityTest,RdmaSocketConnectTest
RXE_QUICK+=,RdmaSocketEchoTest,RdmaSocketFileRegionTest,RdmaSocketGatheringWriteTest,RdmaSocketHalfClosedTest
RXE_QUICK+=,RdmaSocketRstTest,RdmaSocketStartTlsTest,EchoTest,RdmaGrpcCallsInteropTest

# What --quick runs: something of each room, in four minutes on two idle cores (231 s, the build included).
# Java, by module:
# transport-rdma: the tests of each package, but those that need idle cores to be quick; of the root package some.
QUICK_JAVA='io/netty/channel/rdma/*/*Test,!ArmingTest,!TwoProcessesTest,!RdmaGrpcTlsTest'
QUICK_JAVA+=',io/netty/channel/rdma/*ModelTest,FuzzTest,LayersTest,SendRingTest,RdmaByteBufAllocatorTest'
QUICK_JAVA+=,RegisteredMemoryTest,RdmaIoHandlerTest,RdmaUnavailabilityTest,RdmaSocketChannelConfigTest
# transport-rdma-reactor-netty: without what takes longest.
QUICK_JAVA+=',!RSocketTransportTest,!SpringWebFluxTest,!HttpTest'
# testsuite: Netty's own tests; epoll's on loops of RDMA; peers that lie, vanish or speak C; RDMA or TCP;
# life of buffers.
QUICK_JAVA+=,RdmaSocketChannelTest,RdmaServerSocketChannelTest,RdmaSocketChannelReentrancyTest,RdmaConnectionEndTest
QUICK_JAVA+=,RdmaSocketConnectTest,RdmaSocketEchoTest,RdmaSocketFileRegionTest,RdmaSocketGatheringWriteTest
QUICK_JAVA+=,RdmaSocketHalfClosedTest,RdmaSocketRstTest,RdmaSocketStartTlsTest,ManualEventLoopTest
QUICK_JAVA+=,RdmaHostilePeerTest,RdmaConnectFailureTest,RdmaPeerDeathTest,RdmaRsocketStreamTest
QUICK_JAVA+=,RdmaPreloadedProgramsTest,RdmaOrTcpTest,RdmaOrTcpServerTest,RdmaOrTcpFallbackTest
QUICK_JAVA+=,RdmaOrTcpSocketChannelTest,RdmaStreamIntegrityTest,RdmaUnconnectedReregistrationTest
# microbench and example-servers: reports, and each kind of example.
QUICK_JAVA+=,MarkdownReportTest,BenchResultsTest,HarnessTest,ReportTest,SettlingTest,LoadTest,EchoTest,HttpServerTest
QUICK_JAVA+=,Http2ProgramsTest,GrpcOnePortTest,FileServerTest,OperationTest,PubSubTest,MulticastTest,VerbsEndTest
IWARP_JAVA=RdmaIwarpTest,ReceiveMemory*Test,RdmaSocketChannelTest,RdmaSocketChannelReentrancyTest,RdmaCloseTest
IWARP_JAVA+=,RdmaSocketEchoTest,RdmaSocketHalfClosedTest,RdmaSocketGatheringWriteTest,RdmaSocketFileRegionTest
IWARP_JAVA+=,RdmaSocketRstTest,RdmaSocketShutdownOutput*Test,RdmaConnectionEndTest,RdmaPeerDeathTest
IWARP_JAVA+=,RdmaStreamIntegrityTest,RdmaRstreamTest,RdmaRsocket*Test,RdmaPreloadedProgramsTest,RdmaRcopyTest
# What lane platforms runs on a newer Java, and with a newer Netty: something of each room of QUICK_JAVA, and Vert.x.
PLATFORMS_JAVA=25
PLATFORMS_NETTY=4.2.18.Final
PLATFORMS_TESTS='io/netty/channel/rdma/memory/*Test,io/netty/channel/rdma/stream/*Test,DataTransferTest,ModulePathTest'
PLATFORMS_TESTS+=,RdmaByteBufAllocatorTest,RegisteredMemoryTest,RdmaIoHandlerTest,RdmaSocketChannelTest
PLATFORMS_TESTS+=,ReceiveMemoryTest,RdmaReregistrationTest,RdmaMessageOperationsTest,RdmaDatagramTransferTest
PLATFORMS_TESTS+=,RdmaSocketEchoTest,RdmaSocketFileRegionTest,RdmaSocketStartTlsTest,RdmaRsocketStreamTest,RdmaOrTcpTest
PLATFORMS_TESTS+=,RdmaOrTcpServerTest,HttpServerTest,Http2ProgramsTest,GrpcOnePortTest,NetSocketTest
PLATFORMS_TESTS+=,HttpTest,BuffersTest
# C: all programs but those whose names match this, which take the longest.
QUICK_C_WITHOUT='arena|peer|limits|chaos'

lane_scripts() {
    local file check passed=0 failed=0
    for file in "$ROOT"/run-*.sh "$ROOT"/scripts/*.sh "$ROOT/.ci/run" \
            "$ROOT"/scripts/{c-folders,columns,links,packages,pictures,reproducible,testsuite-table,versions} \
            "$ROOT"/testsuite/rxe/{guest,kernel,boot,rxe-net,tests,c-tests,bench} \
            "$ROOT"/testsuite/conformance/{run,programs/*.sh} \
            "$ROOT"/containers/{entrypoint,test} "$ROOT/testsuite/consumer/run" "$ROOT"/testsuite/aarch64/{run,system} \
            "$C_SOURCES/preload/named-library"; do
        if bash -n "$file"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done
    for check in c-folders columns links packages pictures testsuite-table versions; do
        if "$ROOT/scripts/$check" check; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done
    echo "@ scripts $passed $failed 0"
}

# Runs programs and counts the tests that they name before running them, as RUN of test/c/check.h does: one a line,
# indented by two spaces. A program stops at its first failure. One that can run none here says "skipped:" and why.
# C_ARGUMENTS: theirs; C_LIMIT: seconds; C_AS: the command that runs them.
run_c_programs() {
    local label=$1 program name output status tests passed=0 failed=0 skipped=0
    shift
    for program in "$@"; do
        name=$(basename "$program")
        output=$LOGS/$label-$name.log
        status=0
        timeout -k 10 "${C_LIMIT:-600}" "${C_AS[@]}" "$program" "${C_ARGUMENTS[@]}" > "$output" 2>&1 || status=$?
        tests=$(grep -cE '^  [a-z0-9_]+$' "$output" || true)
        if [ "$status" = 0 ] && [ "$tests" != 0 ]; then
            echo "ok   $name ($tests)"
            passed=$((passed + tests))
        elif [ "$status" = 0 ] && grep -q '^ *skipped: ' "$output"; then
            echo "skip $name ($(sed -n 's/^ *skipped: //p' "$output"))"
            skipped=$((skipped + 1))
        else
            echo "FAIL $name (exit status $status); the end of $output:"
            tail -n 40 "$output"
            [ "$tests" = 0 ] || passed=$((passed + tests - 1))
            failed=$((failed + 1))
        fi
    done
    echo "@ $label $passed $failed $skipped"
}

# Builds the C tests and sets `programs` to them, without those whose names match C_WITHOUT.
build_c_programs() { # OUT SANITIZE
    make -C "$C_SOURCES" -s -j "$(nproc)" OUT="$1" SANITIZE="$2" programs
    programs=$(make -C "$C_SOURCES" -s OUT="$1" SANITIZE="$2" print-programs)
    [ -z "${C_WITHOUT-}" ] || programs=$(tr ' ' '\n' <<< "$programs" | grep -vE "/($C_WITHOUT)_test$")
    [ -n "$programs" ] || die "there are no C tests"
}

c_lane() {
    local label=$1 sanitize=$2 out=$ROOT/transport-rdma-native/target/c programs
    build_c_programs "$out" "$sanitize"
    [ -n "$sanitize" ] || "$ROOT/scripts/c-folders" check "$out/obj"
    run_c_programs "$label" $programs
}

lane_c() {
    c_lane c ''
}

# As a user without privileges, with what such a user is given: the kernel bounds root less (unix(7), ETOOMANYREFS), and
# root is user 0. In a folder of that user, who may not be able to reach this one.
lane_c_user() {
    local folder programs
    if [ "$(id -u)" != 0 ]; then
        echo "the other lanes are run by a user without privileges"
        echo "@ c-user 0 0 1"
        return
    fi
    C_WITHOUT=$QUICK_C_WITHOUT build_c_programs "$ROOT/transport-rdma-native/target/c" ''
    folder=$(mktemp -d)
    cp $programs "$folder"
    chown -R 65534:65534 "$folder"
    (
        cd "$folder"
        ulimit -Sn 1024
        C_AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        run_c_programs c-user "$folder"/*
    )
    rm -rf "$folder"
}

lane_quick_c() {
    C_WITHOUT=$QUICK_C_WITHOUT c_lane quick-c ''
}

lane_quick_java() {
    local maven_arguments=("${maven_arguments[@]}" -Dtest="$QUICK_JAVA" -Dsurefire.failIfNoSpecifiedTests=false)
    java_tests
}

# Leaks count; a handler that is installed twice or a death by signal must not be hidden by the sanitizer.
with_asan_options() {
    ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:strict_string_checks=1 \
        UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$@"
}

lane_c_asan() {
    with_asan_options c_lane c-asan address,undefined
}

lane_c_tsan() {
    # GCC 12's run-time library knows no mapping with as many random bits as new kernels use: run without randomisation.
    # Some containers don't allow that; there it depends on the kernel whether the programs start.
    local unrandomised=()
    ! setarch "$(uname -m)" -R true 2> /dev/null || unrandomised=(setarch "$(uname -m)" -R)
    TSAN_OPTIONS=second_deadlock_stack=1 "${unrandomised[@]}" "$BASH" -c \
        '. "$1/scripts/common.sh"; LOGS=$2; . "$1/scripts/lanes.sh"; c_lane c-tsan thread' \
        "$0" "$ROOT" "$LOGS"
}

# The embedded provider itself, under the sanitizers; then Java on a function table in which calls fail.
lane_faults() {
    local out=$ROOT/transport-rdma-native/target/c program
    local C_ARGUMENTS=(${TEST_SEED:+--seed "$TEST_SEED"} ${TEST_SECONDS:+--seconds "$TEST_SECONDS"})
    local C_LIMIT=$((TEST_SECONDS + 900))
    make -C "$C_SOURCES" -s -j "$(nproc)" OUT="$out" SANITIZE=address,undefined faults
    program=$(make -C "$C_SOURCES" -s OUT="$out" SANITIZE=address,undefined print-faults)
    with_asan_options run_c_programs faults "$program"
}

lane_faults_java() {
    local out=$ROOT/transport-rdma-native/target/c
    make -C "$C_SOURCES" -s -j "$(nproc)" OUT="$out" faulty
    # On the library path, where it is found before the one on the class path.
    LD_LIBRARY_PATH=$out/faulty tagged_tests faults transport-rdma
}

# The entry point of the container image, in namespaces.
lane_containers() {
    local output
    build example-servers
    output=$("$ROOT/containers/test") || true
    printf '%s\n' "$output"
    sed -n 's/^passed \([0-9]*\) failed \([0-9]*\) skipped \([0-9]*\)$/@ containers \1 \2 \3/p' <<< "$output"
}

lane_java() {
    java_tests
}

# The embedded provider as an iWARP device (embedded/base/iwarp.h): what is different there, and byte streams, which
# send their messages; among them those to librdmacm's, which does the same.
lane_iwarp() {
    local maven_arguments=("${maven_arguments[@]}" -Dsurefire.failIfNoSpecifiedTests=false)
    [[ " ${maven_arguments[*]} " == *" -Dtest="* ]] || maven_arguments+=(-Dtest="$IWARP_JAVA")
    RDMA_EMBEDDED_IWARP=1 java_tests -pl transport-rdma,testsuite -am
}

# The JDK is not in packages.txt: Debian 12 has none that is newer.
lane_platforms() {
    local home=${JAVA_PLATFORMS_HOME-} status=0 each
    if [ -z "$home" ]; then
        for each in /usr/lib/jvm/*-"$PLATFORMS_JAVA"-*; do
            [ ! -x "$each/bin/javac" ] || home=$each
        done
    fi
    local maven_arguments=("${maven_arguments[@]}" -Dsurefire.failIfNoSpecifiedTests=false)
    [[ " ${maven_arguments[*]} " == *" -Dtest="* ]] || maven_arguments+=(-Dtest="$PLATFORMS_TESTS")
    if [ -n "$home" ]; then
        echo "Java $PLATFORMS_JAVA: $home"
        JAVA_HOME=$home java_tests || status=$?
    else
        echo "no JDK $PLATFORMS_JAVA: install one below /usr/lib/jvm, or set JAVA_PLATFORMS_HOME"
        echo "@ java/$PLATFORMS_JAVA 0 0 1"
    fi
    echo "Netty $PLATFORMS_NETTY"
    java_tests -Dnetty.version="$PLATFORMS_NETTY" || status=$?
    return "$status"
}

lane_transport_rdma() {
    java_tests -pl transport-rdma -am
}

lane_testsuite() {
    module_on_transport testsuite
}

lane_transport_rdma_vertx() {
    module_on_transport transport-rdma-vertx
}

lane_transport_rdma_reactor_netty() {
    module_on_transport transport-rdma-reactor-netty
}

lane_microbench() {
    module_on_transport microbench
}

lane_example_servers() {
    module_on_transport example-servers
}

module_on_transport() {
    java_tests -pl "$1" -am -Dskip.transport.tests=true
}

# Processes that are stopped and killed: of verbs (400 rounds for each seed) and of channels.
lane_chaos() {
    local out=$ROOT/transport-rdma-native/target/c program seed=${TEST_SEED:-1}
    local end=$((SECONDS + ${TEST_SECONDS:-0} / 2))
    make -C "$C_SOURCES" -s -j "$(nproc)" OUT="$out" programs
    program=$(make -C "$C_SOURCES" -s OUT="$out" print-programs | tr ' ' '\n' | grep /chaos_test)
    while true; do
        echo "seed $seed"
        RDMA_ROUNDS=400 RDMA_SEED=$seed run_c_programs chaos-c "$program" || return
        seed=$((seed + 1))
        [ "$SECONDS" -lt "$end" ] || break
    done
    TEST_SECONDS=${TEST_SECONDS:+$(((TEST_SECONDS + 1) / 2))} tagged_tests chaos testsuite
}

# Java tests that are a lane of their own have a JUnit tag of the lane's name, which leaves them out of the lane java
# (tests.excludedTags in pom.xml). They read the system properties test.seed and test.seconds (TestRandom).
tagged_tests() { # TAG MODULE
    # A suite fails if it is left without tests. The other pattern is Surefire's default.
    java_tests -pl "$2" -am -Dgroups="$1" -Dtests.excludedTags= -Dsurefire.failIfNoSpecifiedTests=false \
        '-Dsurefire.excludes=**/*$*,**/EpollTestsuiteOnRdmaLoopsTest*,**/RdmaOrTcpTestsuiteTest*' \
        ${TEST_SEED:+-Dtest.seed="$TEST_SEED"} \
        ${TEST_SECONDS:+-Dtest.seconds="$TEST_SECONDS" -Dtests.forkTimeout="$((TEST_SECONDS + 1800))"}
}

lane_differential() {
    local status=0
    tagged_tests differential testsuite || status=$?
    differential_summary "$ROOT"/testsuite/target/surefire-reports/*DifferentialTest-output.txt
    return "$status"
}

# How many programs ran, and what differed.
differential_summary() { # OUTPUT OF THE TEST
    grep -hE '^seed [0-9]+ \(|^[0-9]+ programs, ' "$@" | cut -c 1-400 | tail -n 20 || true
}

java_tests() { # MAVEN ARGUMENT...
    local status=0
    # One module's failed test must not keep the others from running; what is not a test failure is found in the log.
    maven verify "$@" -Dmaven.test.failure.ignore=true "${maven_arguments[@]}" > "$LOGS/maven.log" 2>&1 || status=$?
    grep -E '^\[(INFO|WARNING|ERROR)\] (Tests run:.* in |BUILD|  [A-Z])|LEAK' "$LOGS/maven.log" || true
    if [ "$status" != 0 ]; then
        grep -E '^\[ERROR\]' "$LOGS/maven.log" | head -n 60 || true
    elif grep -qE 'error in the forked process|LEAK\(s\)|forked VM terminated|There was a timeout' \
            "$LOGS/maven.log"; then
        echo "FAIL a leak or a crash outside of the tests; see $LOGS/maven.log and target/surefire-reports"
        status=1
    fi
    maven_totals < "$LOGS/maven.log"
    return "$status"
}

# Surefire's totals by module, from Maven's output. Its XML reports would not do: the report of one test engine replaces
# that of another for a class that has tests of both (JUnit and jqwik).
maven_totals() {
    sed -n -E -e 's/^\[INFO\] --- .*surefire.*:test .* @ ([^ ]+) ---$/module \1/p' \
        -e 's/^\[[A-Z]+\] '"$SUREFIRE_COUNTS"'$/total \1 \2 \3 \4/p' \
        | awk '$1 == "module" { module = $2 }
               $1 == "total" { print "@", "java/" module, $2 - $3 - $4 - $5, $3 + $4, $5 }'
}

lane_reproducible() {
    local status=0
    "$ROOT/scripts/reproducible" | tee "$LOGS/reproducible-files.log" || status=$?
    echo "@ reproducible $(grep -c '^ok ' "$LOGS/reproducible-files.log")" \
        "$(grep -c '^FAIL ' "$LOGS/reproducible-files.log") 0"
    return "$status"
}

lane_aarch64() {
    LOGS=$LOGS "$ROOT/testsuite/aarch64/run" c java
}

lane_consumer() {
    "$ROOT/testsuite/consumer/run"
}

lane_conformance() {
    local out=$ROOT/transport-rdma-native/target/c
    make -C "$C_SOURCES" -s -j "$(nproc)" OUT="$out" preload libraries
    PRELOAD="$out/librdma_embedded.so" "$ROOT/testsuite/conformance/run" $CONFORMANCE_OPTION \
        | tee "$LOGS/conformance-programs.log"
    # Its last line is of the form "N passed, N failed, N skipped".
    sed -n -E '$s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/@ conformance \1 \2 \3/p' \
        "$LOGS/conformance-programs.log"
}

# Fuzz targets. Each replays its corpus in the repository and goes on from there. What it finds stays in target/fuzz
# of its module, for the next run; an input that fails is in the logs, one of those in Java in target/fuzz.
lane_fuzz() {
    local out=$ROOT/transport-rdma-native/target/c corpora=$ROOT/transport-rdma-native/src/test/corpus
    local program name found log status passed=0 failed=0
    type -P clang > /dev/null || die "the fuzz targets need clang and libclang-rt-dev: see packages.txt"
    make -C "$C_SOURCES" -s -j "$(nproc)" OUT="$out" fuzz
    for program in $(make -C "$C_SOURCES" -s OUT="$out" print-fuzz); do
        name=$(basename "$program" _fuzz) log=$LOGS/fuzz-$(basename "$program").log
        found=$ROOT/transport-rdma-native/target/fuzz/$name
        mkdir -p "$found"
        status=0
        timeout -k 10 $((${TEST_SECONDS:-20} + 600)) "$program" -max_total_time="${TEST_SECONDS:-20}" -max_len=1024 \
            -len_control=0 -timeout=100 -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$LOGS/fuzz-$name-" \
            ${TEST_SEED:+-seed="$TEST_SEED"} "$found" "$corpora/$name" > "$log" 2>&1 || status=$?
        if [ "$status" = 0 ]; then
            echo "ok   $name: $(grep -E 'DONE' "$log"), $(grep -E 'Seed:' "$log")"
            passed=$((passed + 1))
        else
            echo "FAIL $name (exit status $status); the end of $log:"
            tail -n 60 "$log"
            failed=$((failed + 1))
        fi
    done
    echo "@ fuzz $passed $failed 0"
}

lane_fuzz_java() {
    tagged_tests fuzz transport-rdma
}

# Maven's -Dtest=A,B* as a regular expression of class names.
class_pattern() {
    local names=${1//./\\.}
    names=${names//\*/.*}
    printf '.*\\.(%s)' "${names//,/|}"
}

lane_rxe() {
    rxe_lane '' "${RXE_MODULES[@]}"
}

lane_rxe_quick() {
    rxe_lane "$RXE_QUICK" "${RXE_MODULES[@]}"
}

lane_rxe_chaos() {
    RXE_TAG=chaos rxe_lane '' testsuite
}

lane_rxe_transport_rdma() {
    rxe_lane '' transport-rdma
}

lane_rxe_testsuite() {
    rxe_lane '' testsuite
}

lane_rxe_example_servers() {
    rxe_lane '' example-servers
}

lane_rxe_differential() {
    local status=0
    RXE_TAG=differential rxe_lane '' testsuite || status=$?
    differential_summary "$ROOT"/testsuite/target/rxe-reports/console.txt
    return "$status"
}

# RXE_TAG: the tag of the tests, if they are a lane of their own.
rxe_lane() { # CLASSES MODULE...; all classes if that is empty; -Dtest overrides it
    local argument status=0
    RXE_TESTS=${1:+$(class_pattern "$1")}
    shift
    for argument in "${maven_arguments[@]}"; do
        [[ $argument != -Dtest=* ]] || RXE_TESTS=$(class_pattern "${argument#-Dtest=}")
    done
    export RXE_TESTS RXE_TAG TEST_SEED TEST_SECONDS
    # The plugin's file name is relative to each module.
    maven package dependency:build-classpath -DskipTests -Dmdep.outputFile=target/test-classpath \
        -pl "$(IFS=,; echo "$*")" -am > "$LOGS/rxe-build.log" 2>&1 || status=$?
    [ "$status" = 0 ] || { grep -E '^\[ERROR\]|error:' "$LOGS/rxe-build.log"; return "$status"; }
    "$ROOT/testsuite/rxe/guest" --timeout 5400 --log "$LOGS/rxe" --env RXE_TESTS --env RXE_MODULE_LIMIT \
        --env RXE_TAG --env TEST_SEED --env TEST_SECONDS -- "$ROOT/testsuite/rxe/tests" "$@" || status=$?
    [ ! -e "$LOGS/rxe/summary" ] || cat "$LOGS/rxe/summary"
    return "$status"
}

# The C tests once more, the same object files but for those about the embedded provider's inside: linked with the
# system's libraries, and on the guest's kernel.
lane_rxe_c() {
    local out=$ROOT/transport-rdma-native/target/c programs status=0
    make -C "$C_SOURCES" -s -j "$(nproc)" OUT="$out" system
    programs=$(make -C "$C_SOURCES" -s OUT="$out" print-system)
    [ -n "$programs" ] || die "there are no C tests"
    LOGS=$LOGS "$ROOT/testsuite/rxe/guest" --timeout 1800 --log "$LOGS/rxe-c" --env LOGS \
        -- "$ROOT/testsuite/rxe/c-tests" $programs || status=$?
    [ ! -e "$LOGS/rxe-c/summary" ] || cat "$LOGS/rxe-c/summary"
    return "$status"
}

run_lane() {
    local lane=$1 log=$LOGS/$1.log status=0 started=$SECONDS line name passed failed skipped failures=0
    say "$lane"
    # set -e has no effect in the condition of an if or beside ||, so the lane runs in a shell of its own.
    set +e
    (set -e; "lane_${lane//-/_}") 2>&1 | tee "$log" | grep --line-buffered -v '^@ '
    status=${PIPESTATUS[0]}
    set -e
    while read -r line name passed failed skipped; do
        RESULTS+=("$(printf '%-28s %7d %7d %7d' "$name" "$passed" "$failed" "$skipped")")
        TOTAL_PASSED=$((TOTAL_PASSED + passed))
        TOTAL_FAILED=$((TOTAL_FAILED + failed))
        failures=$((failures + failed))
    done < <(grep '^@ ' "$log")
    if { [ "$status" != 0 ] && [ "$failures" = 0 ]; } || ! grep -q '^@ ' "$log"; then
        RESULTS+=("$(printf '%-28s %7d %7d %7d   %s' "$lane" 0 1 0 "broke: see $log")")
        TOTAL_FAILED=$((TOTAL_FAILED + 1))
    fi
    RESULTS+=("$(printf '%-28s %7s %7s %7s %4d s' "  time of $lane" '' '' '' $((SECONDS - started)))")
}

run_lanes() { # LANE...
    local lane
    rm -rf "$LOGS"
    mkdir -p "$LOGS"
    RESULTS=() TOTAL_PASSED=0 TOTAL_FAILED=0
    for lane in "$@"; do
        run_lane "$lane"
    done
}

repeat() { # ROUNDS LANE...
    local rounds=$1 round passed=0 status=0
    shift
    for ((round = 1; round <= rounds && status == 0; round++)); do
        echo "== round $round of $rounds"
        run_lanes "$@"
        summary || status=$?
        passed=$((passed + TOTAL_PASSED))
    done
    [ "$status" = 0 ] || echo "round $((round - 1)) failed; its logs are in $LOGS and in each module's target/*-reports"
    echo "$((round - 1)) rounds: $passed passed, $TOTAL_FAILED failed"
    return "$status"
}

summary() {
    echo
    printf '%-28s %7s %7s %7s\n' 'where' passed failed skipped
    printf '%s\n' "${RESULTS[@]}"
    echo
    echo "$TOTAL_PASSED passed, $TOTAL_FAILED failed"
    [ "$TOTAL_FAILED" = 0 ] && [ "$TOTAL_PASSED" != 0 ]
}
