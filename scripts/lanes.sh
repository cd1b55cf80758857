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
# The lanes of run-tests.sh. A function lane_NAME adds the tasks of a lane to the queue (queue.sh). Tasks run the
# functions run_*. The lanes that run in a guest are in testsuite/rxe/lanes.sh. Source it after common.sh.
. "$ROOT/scripts/programs.sh"
. "$ROOT/scripts/queue.sh"
. "$ROOT/scripts/selection.sh"
. "$ROOT/testsuite/rxe/lanes.sh"
C_SOURCES=$ROOT/transport-rdma-native/src/main/c
C_OUT=$ROOT/transport-rdma-native/target/c
# Variables of the command line and of the machine that tasks get.
QUEUE_SETTINGS=(properties PATTERNS TEST_SEED TEST_SECONDS TEST_ALL CONFORMANCE_OPTION ISOLATION JAVA_HOME
    build_modules deploys)
JAVA_MODULES=(transport-rdma transport-rdma-micrometer transport-rdma-valkey transport-rdma-vertx transport-rdma-grpc
    transport-rdma-reactor-netty transport-rdma-agent testsuite example-servers microbench)
# Versions of lane platforms, beside the oldest Netty.
PLATFORMS_JAVA=25
PLATFORMS_NETTY=4.2.18.Final
# Made for that Java.
PLATFORMS_MICRONAUT=5.2.23
# C: all programs but the longest.
QUICK_C='*_test,!arena_test,!peer_test,!limits_test,!chaos_test'

# --- Builds -----------------------------------------------------------------------------------------------------------

needs_native() {
    build_task native '' make_c '' all
}

needs_java() { # MODULE...
    local module
    needs_native
    build_task java build/native run_build_java
    for module in "$@"; do
        [[ " ${build_modules[*]} " == *" $module "* ]] || build_modules+=("$module")
    done
}
build_modules=() deploys=''

run_build_java() {
    BUILD_ARGUMENTS=("${properties[@]}")
    [ -z "$deploys" ] || BUILD_PHASE=(deploy -Dmaven.install.skip=true
        -DaltDeploymentRepository="deployed::file://$ROOT/target/consumer/repository")
    BUILD_LOG=$LOGS/build/maven.log build "${build_modules[@]}"
}

make_c() { # SANITIZE TARGET...
    # LIBDIR is Maven's, which then finds the library there.
    make -C "$C_SOURCES" -s OUT="$C_OUT" LIBDIR="$ROOT/transport-rdma-native/target/classes/META-INF/native" \
        SANITIZE="$1" "${@:2}"
}

# The programs that make knows of. There are some in any case: a lane without tasks would pass.
programs_of() { # SANITIZE TARGET
    local programs
    programs=$(make_c "$@")
    [ -n "$programs" ] || die "make $2 names no programs"
    echo "$programs"
}

# --- Lanes ------------------------------------------------------------------------------------------------------------

lane_scripts() {
    task scripts scripts 10 '' run_scripts
}

run_scripts() {
    local file check passed=0 failed=0
    while read -r file; do
        if bash -n "$file"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done < <(scripts_of_the_project | grep -v Makefile)
    for check in c-folders ladders links packages pictures style test-lists testsuite-table versions; do
        if "$ROOT/scripts/$check" check; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done
    echo "@ scripts $passed $failed 0"
}

lane_c() { # [LANE [PATTERNS]]
    c_lane "${1:-c}" '' "${PATTERNS:-${2:-*_test}}"
    # A selection of tests leaves out the other checks.
    [ -n "$PATTERNS" ] || task "${1:-c}" folders 1 build/c run_c_folders "${1:-c}"
}

lane_quick_c() {
    lane_c quick-c "$QUICK_C"
}

lane_c_asan() {
    c_lane c-asan address,undefined "${PATTERNS:-*_test}"
}

lane_c_tsan() {
    c_lane c-tsan thread "${PATTERNS:-*_test}"
}

c_lane() { # LANE SANITIZE PATTERNS
    local program programs name build=build/c${2:+-${2%%,*}}
    needs_native
    build_task "${build#build/}" "$([ -n "$2" ] || echo build/native)" make_c "$2" programs
    programs=$(programs_of "$2" print-programs)
    for program in $programs; do
        name=$(basename "$program")
        ! selected "$3" "$name" "$name" \
            || task "$1" "$name" "$(seconds_of "$1" "$name")" "$build" run_c "$1" "$program"
    done
}

run_c_folders() { # LANE
    local status=0
    "$ROOT/scripts/c-folders" check "$C_OUT/obj" || status=1
    echo "@ $1 $((1 - status)) $status 0"
}

run_c() { # LANE PROGRAM
    c_options
    C_AGAIN="run_c $1 $2"
    local program=$2
    case $1 in
        c-asan)
            asan_options
            # Runs as a user without privileges, with the limits of such a user, because the kernel limits root less
            # (unix(7), ETOOMANYREFS), and root is user 0. Each program has another user, because descriptors in flight
            # count for all processes of a user. It runs in a folder of that user, who may have no access to this one.
            if [ "$(id -u)" = 0 ]; then
                local user=$((30000 + $$ % 30000))
                cp "$program" "$TMPDIR"
                chown -R $user:$user "$TMPDIR"
                program=$TMPDIR/$(basename "$program")
                cd "$TMPDIR"
                ulimit -Sn 1024
                C_AS+=(setpriv --reuid=$user --regid=$user --clear-groups)
            fi
            ;;
        c-tsan)
            # The run-time library of GCC 12 does not support as many random bits of addresses as new kernels use, so
            # programs run without randomisation. Some containers don't allow that. There the kernel decides whether
            # programs start.
            ! setarch "$(uname -m)" -R true 2> /dev/null || C_AS+=(setarch "$(uname -m)" -R)
            export TSAN_OPTIONS=second_deadlock_stack=1
            ;;
    esac
    run_c_program "$1" "$program"
}

# Options of a C program, and variables for check.h.
c_options() {
    C_AS=(isolated)
    export RDMA_TEST_MULTIPLIER RDMA_TEST_ALL
    RDMA_TEST_MULTIPLIER=$(printf '%s\n' -Dtest.timeout.multiplier=1 "${properties[@]}" \
        | sed -n 's/^-Dtest.timeout.multiplier=//p' | tail -n 1)
    RDMA_TEST_ALL=$((${#TEST_ALL} > 0))
}

# Leaks count; a handler that is installed twice or a death by signal must not be hidden by the sanitizer.
asan_options() {
    export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:strict_string_checks=1
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
}

# The embedded provider itself, under the sanitizers.
lane_faults() {
    local part
    build_task c-address '' make_c address,undefined programs
    build_task faults build/c-address make_c address,undefined faults
    if [ -n "$TEST_SEED$TEST_SECONDS" ]; then
        task faults random "${TEST_SECONDS:-60}" build/faults run_faults ${TEST_SEED:+--seed "$TEST_SEED"} \
            ${TEST_SECONDS:+--seconds "$TEST_SECONDS"}
    else
        for part in 1 2 3; do
            task faults "part-$part" 90 build/faults run_faults --part "$part" --of 3
        done
        task faults reached 0 'faults/part-1 faults/part-2 faults/part-3' run_faults_reached
    fi
}

run_faults() { # ARGUMENT...
    c_options
    C_ARGUMENTS=("$@")
    C_LIMIT=$((TEST_SECONDS + 900))
    asan_options
    run_c_program faults "$(make_c address,undefined print-faults)"
}

# Each part lists the places that none of its scenarios reaches. A place in all lists is a call that never fails here.
run_faults_reached() {
    local never
    never=$(grep -ha 'no scenario reaches' "$LOGS"/faults/*.output | sort | uniq -c | awk '$1 == 3')
    printf '%s\n' "$never"
    [ -z "$never" ] || echo "! final faults reached 1"
    echo "@ faults $([ -z "$never" ] && echo '1 0' || echo '0 1') 0"
}

# Fuzz targets. Each replays its corpus in the repository and continues from there. New inputs stay in target/fuzz of
# the module for the next run. An input that fails is in the logs.
lane_fuzz() {
    local program programs
    programs=$(programs_of '' print-fuzz)
    build_task fuzz '' make_c '' fuzz
    for program in $programs; do
        task fuzz "$(basename "$program" _fuzz)" "$(($(fuzz_seconds) + 3))" build/fuzz run_fuzz "$program"
    done
}

fuzz_seconds() {
    echo "${TEST_SECONDS:-$([ -n "$TEST_ALL" ] && echo 10 || echo 5)}"
}

run_fuzz() { # PROGRAM
    local name seconds found status=0
    seconds=$(fuzz_seconds)
    name=$(basename "$1" _fuzz)
    found=$ROOT/transport-rdma-native/target/fuzz/$name
    mkdir -p "$found"
    isolated timeout -k 10 $((seconds + 600)) "$1" -max_total_time="$seconds" -max_len=1024 -len_control=0 \
        -timeout=100 -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$LOGS/fuzz/$name-" \
        ${TEST_SEED:+-seed="$TEST_SEED"} "$found" "$ROOT/transport-rdma-native/src/test/corpus/$name" || status=$?
    [ "$status" = 0 ] || echo "! final fuzz $name 1"
    echo "@ fuzz $((status == 0)) $((status != 0)) 0"
}

# Watches for locks that are held for long, and for native methods that run for long: test/c/stalls.
lane_stalls() {
    local program all name programs=() tag=stalls
    [ -z "$TEST_ALL$PATTERNS" ] || tag=''
    all=$(programs_of '' print-stalls)
    for program in $all; do
        name=$(basename "$program")
        ! selected "${PATTERNS:-*_test}" "$name" "$name" || ! c_program_has "$name" "$tag" || programs+=("$program")
    done
    needs_native
    build_task c build/native make_c '' programs
    build_task stalls build/c make_c '' stalls "${programs[@]}"
    for program in "${programs[@]}"; do
        name=$(basename "$program")
        task stalls "$name" "$(seconds_of c "$name")" build/stalls run_stalls "$program"
    done
    local JAVA_NEEDS=build/stalls
    java_lane stalls "$tag" transport-rdma testsuite
}

run_stalls() { # PROGRAM
    # File that distinguishes sleep from the wait for a processor (CONFIG_SCHED_INFO).
    if [ ! -r /proc/thread-self/schedstat ]; then
        echo 'no /proc/thread-self/schedstat'
        echo '@ stalls 0 0 1'
        return
    fi
    c_options
    C_AGAIN="run_stalls $1"
    run_c_program stalls "$1"
}

# Processes that are stopped and killed: of verbs (rounds with one seed) and of channels.
lane_chaos() {
    needs_native
    build_task c build/native make_c '' programs
    task chaos verbs "$((${TEST_SECONDS:-40} / 2))" build/c run_chaos
    java_lane chaos chaos testsuite
}

run_chaos() {
    local seed=${TEST_SEED:-1} end=$((SECONDS + ${TEST_SECONDS:-0} / 2)) rounds program programs
    programs=$(make_c '' print-programs | tr ' ' '\n' | grep -E '/(peer_memory_)?chaos_test$')
    rounds=$([ -n "$TEST_ALL" ] && echo 400 || echo 150)
    c_options
    while true; do
        echo "seed $seed"
        for program in $programs; do
            RDMA_ROUNDS=$rounds RDMA_SEED=$seed run_c_program chaos "$program"
        done
        seed=$((seed + 1))
        [ "$SECONDS" -lt "$end" ] || break
    done
}

# --- Lanes of Java ----------------------------------------------------------------------------------------------------

# The tests of modules that have the tag of a lane. Without a tag: all except those that have a lane of their own.
java_lane() { # LANE TAG MODULE...
    local lane=$1 tag=$2 module classes oldest=oldest
    shift 2
    # With -Dtest, a lane that runs some tests of the others can run any of them.
    [ -z "$PATTERNS" ] || is_apart "$tag" || tag='' oldest=''
    for module in "$@"; do
        classes=$(java_classes "$module" "$tag")
        if [ "$module" = testsuite ] && ! is_apart "$tag"; then
            # Once more, with the version of gRPC that is there.
            classes+=" $(java_classes transport-rdma-grpc "${tag:-$oldest}")"
        fi
        java_tasks "$lane" "$module" $classes
        case $lane:$module in
            *:transport-rdma-reactor-netty) java_tasks "$lane" "$module:oldest" $(java_classes "$module" "$oldest") ;;
            java:transport-rdma|transport-rdma:*|java:testsuite|testsuite:*)
                # With a selection, lane platforms runs it so.
                [ -n "$PATTERNS" ] || java_tasks "$lane" "$module:oldest" $(java_classes "$module" oldest)
                ;;
        esac
    done
}

run_java() { # LANE MODULE[:VARIANT] CLASS...
    local lane=$1 module=$2 tag=${1%-java}
    shift 2
    JAVA_OPTIONS=("${properties[@]}" ${TEST_SEED:+-Dtest.seed="$TEST_SEED"}
        ${TEST_SECONDS:+-Dtest.seconds="$TEST_SECONDS"} ${TEST_ALL:+-Dtest.all=true})
    # The second compiler takes half of the time of such short runs. Only with it defects of memory ordering in the
    # transport show. Modules other than these two have no such code.
    if [ "$lane" = quick-java ] || [[ -z $TEST_ALL && $module != transport-rdma && $module != testsuite ]]; then
        JAVA_OPTIONS+=(-XX:TieredStopAtLevel=1)
    fi
    JAVA_LAUNCHER_OPTIONS=(--exclude-tag "$(excluded_tags)")
    ! is_apart "$tag" || JAVA_LAUNCHER_OPTIONS=(--include-tag "$tag")
    case $lane in
        # The embedded provider as an iWARP device (embedded/base/iwarp.h).
        iwarp) export RDMA_EMBEDDED_IWARP=1 ;;
        # On the library path, where it is found before the one on the class path.
        faults-java) export LD_LIBRARY_PATH=$C_OUT/faulty ;;
        stalls) export LD_LIBRARY_PATH=$C_OUT/stalls ;;
        fuzz-java) [ -n "$TEST_SECONDS" ] || JAVA_OPTIONS+=(-Dtest.seconds="$(fuzz_seconds)") ;;
    esac
    JAVA_LIMIT=$((1200 + 60 * $# + ${TEST_SECONDS:-0}))
    JAVA_AGAIN="run_java $lane $module"
    # The lane of a module is a part of the lane java.
    [[ " ${JAVA_MODULES[*]} " != *" $lane "* ]] || lane=java
    run_java_classes "$lane/${module//:/-}" "$module" "$@"
    if [ "$lane" = stalls ] \
            && ! grep -qa 'STALLS are watched' "$ROOT/$module/target/test-reports/$TASK/console.txt"; then
        echo 'no class has loaded the library of this lane'
        echo "! final stalls $module 1"
        echo '@ stalls 0 1 0'
    fi
    [ "$lane" != differential ] \
        || grep -ahE '^seed [0-9]+ \(|^[0-9]+ programs, ' "$ROOT/$module/target/test-reports/$TASK/console.txt" \
        | cut -c 1-400 | tail -n 20 || true
}

lane_java() {
    java_lane java '' "${JAVA_MODULES[@]}"
}

lane_quick_java() {
    java_lane quick-java quick transport-rdma transport-rdma-valkey transport-rdma-agent testsuite
}

# Byte streams and channels of messages on an iWARP device, where messages are sent with SEND. Some tests connect to
# librdmacm, which does the same.
lane_iwarp() {
    java_lane iwarp "iwarp${TEST_ALL:+|iwarp-all}" transport-rdma testsuite
}

lane_faults_java() {
    needs_native
    build_task faulty build/native make_c '' faulty
    local JAVA_NEEDS=build/faulty
    java_lane faults-java faults transport-rdma
}

lane_fuzz_java() {
    java_lane fuzz-java fuzz transport-rdma
}

lane_differential() {
    java_lane differential differential testsuite
}

# A server and clients beside processes that attack them.
lane_hostile() {
    java_lane hostile hostile testsuite
}

# A lane for each module: lane_transport_rdma and so on.
for module in "${JAVA_MODULES[@]}"; do
    eval "lane_${module//-/_}() { java_lane $module '' $module; }"
done

# The entry point of the container image, in namespaces.
lane_containers() {
    needs_java microbench
    task containers entrypoint 45 build/java run_containers
}

run_containers() {
    local output
    output=$("$ROOT/containers/test") || true
    printf '%s\n' "$output"
    sed -n 's/^passed \([0-9]*\) failed \([0-9]*\) skipped \([0-9]*\)$/@ containers \1 \2 \3/p' <<< "$output"
}

# Applications that see what the build has deployed.
lane_consumer() {
    needs_java "${JAVA_MODULES[@]}" transport-rdma-bom
    deploys=yes
    task consumer applications 100 build/java "$ROOT/testsuite/consumer/run" "$ROOT/target/consumer/repository"
}

lane_conformance() {
    needs_native
    build_task libraries build/native make_c '' libraries
    task conformance programs 100 build/libraries run_conformance
}

run_conformance() { # [EXPRESSION]
    local again=run_conformance
    run_programs conformance $CONFORMANCE_OPTION "$@"
}

# again: the command that repeats a line, when an expression for the line is added.
run_programs() { # LANE ARGUMENT... of testsuite/conformance/run
    local lane=$1
    shift
    PRELOAD="$C_OUT/librdma_embedded.so" isolated "$ROOT/testsuite/conformance/run" "$@" | tee "$TMPDIR/output" || true
    # The expression is the line, with "." for each character that has a meaning in expressions.
    sed -n -E 's/^FAILED (([^:]|:[^ ])*): .*/\1/p' "$TMPDIR/output" | while read -r line; do
        echo "! again $lane ${line//[ \/]/_} 1 $again ^${line//[^a-zA-Z0-9_=-]/.}"
    done
    # The last line has the form "N passed, N failed, N skipped".
    sed -n -E '$s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/@ '"$lane"' \1 \2 \3/p' "$TMPDIR/output"
}

# Valkey's unchanged server: its own test of RDMA, and our tests with the server as the peer.
lane_valkey() {
    local why
    if ! why=$("$ROOT/testsuite/valkey/build" --fetch 2>&1); then
        task valkey sources 0 '' skip_lane valkey "$why"
        return
    fi
    needs_native
    build_task valkey '' "$ROOT/testsuite/valkey/build"
    if [ -z "$PATTERNS" ]; then
        build_task libraries build/native make_c '' libraries
        task valkey own 20 'build/libraries build/valkey' run_valkey_programs
    fi
    local JAVA_NEEDS=build/valkey
    java_lane valkey valkey testsuite microbench
}

run_valkey_programs() { # [EXPRESSION]
    local again=run_valkey_programs
    run_programs valkey --family valkey "$@"
}

# Programs on the library of an earlier commit together with programs on the library of this commit.
lane_versions() {
    local list=$ROOT/testsuite/conformance/earlier.list own commit version why
    own=$(sed -n 's/^#define LINK_VERSION \([0-9]*\).*/\1/p' "$C_SOURCES/embedded/link/link.h")
    needs_native
    while read -r commit version why; do
        task versions "${commit:0:8}" 15 build/native run_versions "$commit" \
            "$([ "$version" = "$own" ] && echo accepted || echo refused)"
    done < <(grep -v '^#' "$list")
    grep -qE "^[0-9a-f]+ $own " "$list" \
        || task versions own 0 '' skip_lane versions "$list has no commit of number $own"
}

skip_lane() { # LANE REASON
    echo "$2"
    echo "@ $1 0 0 1"
}

run_versions() { # COMMIT VERDICT [EXPRESSION]
    local again="run_versions $1 $2" object=$ROOT/target/earlier/$1.so
    if [ ! -e "$object" ]; then
        if ! git -C "$ROOT" archive "$1" transport-rdma-native/{pom.xml,src/main/c} > "$TMPDIR/sources.tar"; then
            skip_lane versions "no commit $1 here: a shallow clone, or no clone"
            return
        fi
        tar -x -C "$TMPDIR" -f "$TMPDIR/sources.tar"
        # No optimisation, because it takes most of the time of a build and does not change messages.
        make -C "$TMPDIR/transport-rdma-native/src/main/c" -s OPT=-O0 OUT="$TMPDIR/out" preload
        mkdir -p "$(dirname "$object")"
        cp "$TMPDIR/out/librdma_embedded.so" "$object.$TASK"
        mv "$object.$TASK" "$object"
    fi
    run_programs versions --with "$object" "${@:2}"
}

# --- Lanes that keep the machine busy ---------------------------------------------------------------------------------

# The lane java on a newer Java and with a newer Netty, each in a copy of the sources with a build of its own. Also this
# build with the oldest Netty.
lane_platforms() {
    alone platforms java '' run_platform java
    alone platforms netty '' run_platform netty
    local PATTERNS=${PATTERNS:-$(platform_tests)}
    java_tasks platforms transport-rdma:oldest $(java_classes transport-rdma)
}

platform_tests() {
    local module PATTERNS=''
    for module in "${JAVA_MODULES[@]}"; do java_classes "$module" platforms; done | tr . / | paste -sd ,
}

run_platform() { # java|netty
    local copy=$ROOT/target/platforms/$1 home=${JAVA_PLATFORMS_HOME-} each
    local arguments=(-Dmicronaut.version="$PLATFORMS_MICRONAUT")
    if [ "$1" = netty ]; then
        arguments=(-Dnetty.version="$PLATFORMS_NETTY")
        home=$JAVA_HOME
    else
        # The JDK is not in packages.txt: Debian 12 has none that is newer.
        for each in /usr/lib/jvm/*-"$PLATFORMS_JAVA"-*; do
            [ -n "$home" ] || [ ! -x "$each/bin/javac" ] || home=$each
        done
    fi
    if [ -z "$home" ]; then
        echo "no JDK $PLATFORMS_JAVA: install one below /usr/lib/jvm, or set JAVA_PLATFORMS_HOME"
        echo "@ platforms/$1 0 0 1"
        return
    fi
    mkdir -p "$copy"
    (cd "$ROOT" && tar -c --exclude=target --exclude=.git .) | tar -x -C "$copy"
    JAVA_HOME=$home "$copy/run-tests.sh" --no-install java -Dtest="${PATTERNS:-$(platform_tests)}" "${arguments[@]}" \
        | tee "$TMPDIR/output" || true
    # The rows of its summary.
    sed -n -E 's/^java\/([a-z-]+) +([0-9]+) +([0-9]+) +([0-9]+) +([0-9]+)$/@ platforms\/'"$1"'\/\1 \2 \3 \5/p' \
        "$TMPDIR/output"
    grep -q '^@' "$LOGS/platforms/$1.log" || false
}

lane_reproducible() {
    alone reproducible builds '' run_reproducible
}

run_reproducible() {
    local status=0 passed failed
    "$ROOT/scripts/reproducible" | tee "$TMPDIR/output" || status=1
    passed=$(grep -c '^ok ' "$TMPDIR/output" || true)
    failed=$(grep -c '^FAIL ' "$TMPDIR/output" || true)
    # Without a line of a check, it has come to no end.
    [ "$status" = 0 ] || [ "$failed" != 0 ] || failed=1
    echo "@ reproducible $passed $failed 0"
}

lane_aarch64() {
    alone aarch64 guest '' run_aarch64
}

run_aarch64() {
    LOGS=$LOGS/aarch64 "$ROOT/testsuite/aarch64/run" c java
}
