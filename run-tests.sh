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
. "$(dirname "${BASH_SOURCE[0]}")/scripts/common.sh"
. "$ROOT/scripts/lanes.sh"

usage() {
    cat <<'END'
Usage: ./run-tests.sh [--no-install] [--quick | --all | --rxe | --conformance | LANE...] [-Dtest=PATTERN] [OPTION...]

Builds once, then runs the tests in parallel, two processes more than there are cores, each in its own network namespace
if the system allows it. At the end it prints the numbers of passed, failed, flaky and skipped tests, the time of each
lane, and for each failure its log and the command that repeats it; the last line is "N passed, N failed, N flaky". The
exit status is not 0 if anything failed or did not run. No lane needs an RDMA device: all except rxe* run on the
embedded provider.

A failed test runs again, alone, at the end. If it passes then, it is flaky. More than one flaky test that is not in
testsuite/flaky.list is a failure. A sanitizer's report, a leak, a crash and wrong data never run again.

Lanes, with their minutes on two idle cores (half of the processor time in a run of all), besides one or two minutes
for the build. The default is all of these, in 20 minutes.
  scripts        0.1  checks of the tree: the scripts parse, packages.txt has their commands and the C headers,
                      docs/testsuite.md is complete, links in pages lead to headings, versions in pages are the build's,
                      pictures have names of the code, ladders are drawn from their sources, the tests that
                      docs/sources.md names exist, C folders include lower ones only, C and scripts have the style,
                      the lists of tests are true
  c              0.4  the C tests of the native library, and that its folders call lower ones only, its files in no
                      circle
  c-asan         0.4  the same under AddressSanitizer and UndefinedBehaviorSanitizer, and, if root runs it, as a user
                      without privileges and with 1024 descriptors
  c-tsan         0.9  the same under ThreadSanitizer
  java           8.0  unit and integration tests of every module, and Netty's own transport testsuite
  iwarp          0.6  byte streams and channels of messages on the embedded provider as an iWARP device, with
                      librdmacm as peer
  faults         1.6  each call that can fail for lack of a resource fails once
  faults-java    0.5  the same for verbs calls and for allocations of event loops, in Java
  stalls         0.3  C tests and classes that connect, on a build of the native library that fails when a thread sleeps
                      or works for long with a lock or in a native method
  containers     0.5  the entry point of the container image (docs/containers.md), in namespaces like a container's
  conformance    1.5  unmodified C programs of rdma-core and perftest on the provider's preloadable build
                      (--conformance: and many others)
  versions       0.3  such programs on the provider of earlier commits beside others on this one's, both ways
  consumer       1.5  applications with only the deployed artifacts, on the class path and the module path, with each
                      installed JDK
  fuzz           0.3  fuzz targets for input from peers: they replay their corpora, then run for 5 seconds each
  fuzz-java      0.6  the same in Java
  chaos          0.6  processes with busy connections, stopped and killed at random instants (random input)
  differential   0.4  random programs of handlers on epoll and on RDMA, whose results are compared (random input)
  hostile        0.4  a server and clients beside processes that attack them: another user, other PID namespaces
  valkey         1.0  the unmodified server of Valkey, which the lane builds from Debian's sources once, in a minute
                      more: its own test of RDMA, and its answers over RDMA compared with those over TCP

Parts of the lane java: a lane for each module, with the name of its folder, for example testsuite. Parts of the lanes c
and java for --quick: quick-c, quick-java. Tags at test classes select them: docs/testsuite.md#tags

Not in the default:
  platforms      a part of the lane java on Java 25, with a newer Netty, and the oldest: docs/compatibility.md#versions
  reproducible   two builds of a release, for both platforms, in different folders, have the same bytes
  aarch64        most C tests, and some Java tests, on an emulated aarch64 machine (x86_64 only): half an hour
  load           the lanes c and java with --load 8, to find tests that depend on the speed of the machine

Neither are these; those in the guest on x86_64 only:
  rxe-c          the C tests on real kernel verbs: soft-RoCE in a QEMU guest (testsuite/rxe/README.md)
  rxe            the Java tests there. --rxe says both
  rxe-quick      a representative part of the Java tests there
  rxe-transport-rdma, rxe-transport-rdma-valkey, rxe-testsuite, rxe-example-servers, rxe-microbench
                 the Java tests of one module there
  rxe-chaos      the lane chaos there, of it the channels (random input)
  rxe-differential
                 the lane differential there (random input)
  rxe-valkey     the Java tests of the lane valkey there

Options:
  --quick        scripts, quick-c and quick-java: some tests of each part, in two minutes on two idle cores
  --all          everything, also repetitions of other tests (the tag all, all combinations and rounds): of the lanes
                 that are named, else of the default lanes, platforms, rxe-c and rxe. Hours
  -Dtest=PATTERN selects classes and C programs by name: A,B*,!C; with a slash by the path of a class
  --no-install   do not install missing packages (packages.txt), fail instead
  --conformance  the lane conformance with the optional programs (libfabric, UCX, Open MPI, qperf, pyverbs), and a table
                 of all: program, version, result, reason. RDMA_CORE_SOURCE: a source tree of the installed version of
                 rdma-core, whose tests are run in place of those of the package
  --load N       N processes that never sleep run beside the tests
  --repeat N     run the lanes N times, or until something fails; the logs of that round are kept
  --seed N       repeat a run of a lane with random input, which has printed this seed
  --seconds N    run such a lane for N seconds with new seeds instead of its fixed set; a fuzz target for N seconds
  -DNAME=VALUE   passed to Maven and to the JVMs of the tests: -Dtest.timeout.multiplier=5 gives slow machines more
                 time (not in the guest, which has its own)

Logs are in target/test-logs, a folder for each lane; JUnit's reports in each module's target/test-reports.
END
}

default_lanes=(scripts c c-asan c-tsan java iwarp faults faults-java stalls containers conformance versions consumer
    fuzz fuzz-java chaos differential hostile valkey)
lanes=()
# Arguments for Maven and the JVMs, and the patterns of -Dtest.
properties=() PATTERNS=''
install=yes rounds='' load=0
# Seed and time of lanes with random input; empty: the fixed set.
TEST_SEED='' TEST_SECONDS=''
# Not empty: everything, also what repeats other tests.
TEST_ALL=''
# Option of testsuite/conformance/run.
CONFORMANCE_OPTION=''
while [ $# != 0 ]; do
    case $1 in
        -h|--help) usage; exit 0 ;;
        --no-install) install=no ;;
        --repeat) [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "--repeat needs a number; see --help"; rounds=$2; shift ;;
        --load) [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "--load needs a number; see --help"; load=$2; shift ;;
        --seed) [[ ${2-} =~ ^-?[0-9]+$ ]] || die "--seed needs a number; see --help"; TEST_SEED=$2; shift ;;
        --seconds) [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "--seconds needs a number; see --help"; TEST_SECONDS=$2; shift ;;
        --all) TEST_ALL=yes ;;
        --rxe) lanes+=(rxe) ;;
        --quick) lanes+=(scripts quick-c quick-java) ;;
        --conformance) lanes+=(conformance); CONFORMANCE_OPTION=--all ;;
        load) lanes+=(c java); load=8 ;;
        default) lanes+=("${default_lanes[@]}") ;;
        -Dtest=*) PATTERNS=${1#-Dtest=} ;;
        -D*) properties+=("$1") ;;
        *) type -t "lane_${1//-/_}" > /dev/null || die "no lane '$1'; see --help"; lanes+=("$1") ;;
    esac
    shift
done
if [ -n "$TEST_ALL" ]; then
    CONFORMANCE_OPTION=--all
    if [ "${#lanes[@]}" = 0 ]; then
        lanes=("${default_lanes[@]}" platforms)
        [ "$(uname -m)" != x86_64 ] || lanes+=(rxe-c rxe)
    fi
fi
[[ " ${lanes[*]} " != *" rxe "* || " ${lanes[*]} " = *" rxe-c "* ]] || lanes+=(rxe-c)
[ "${#lanes[@]}" != 0 ] || lanes=("${default_lanes[@]}")

sections=(build tests)
with_interop='java|iwarp|stalls|quick-java|testsuite|example-servers|differential|chaos|hostile'
with_interop+='|rxe|rxe-testsuite|rxe-example-servers|rxe-differential|rxe-chaos'
[[ ! " ${lanes[*]} " =~ " "($with_interop)" " ]] || sections+=(interop)
[[ " ${lanes[*]} " != *" java "* ]] || sections+=(bench metrics)
[[ " ${lanes[*]} " != *" containers "* ]] || sections+=(containers)
[[ " ${lanes[*]} " != *" conformance "* ]] || sections+=(conformance)
[[ " ${lanes[*]} " != *" versions "* ]] || sections+=(conformance versions)
[[ -z $CONFORMANCE_OPTION || " ${lanes[*]} " != *" conformance "* ]] || sections+=(foreign valkey)
[[ ! " ${lanes[*]} " =~ " "(rxe-)?"valkey " ]] || sections+=(conformance valkey)
[[ ! " ${lanes[*]} " =~ " "(reproducible|aarch64)" " ]] || sections+=(cross)
[[ " ${lanes[*]} " != *" aarch64 "* ]] || sections+=(aarch64)
[[ " ${lanes[*]} " != *" fuzz "* ]] || sections+=(fuzz)
[[ " ${lanes[*]} " != *" rxe"* ]] || sections+=(rxe)
[ "$install" = no ] || "$ROOT/scripts/packages" install "${sections[@]}"
find_jdk || die "needs a JDK of at least version 17 (javac); set JAVA_HOME or install the packages of packages.txt"
find_isolation

run_lanes() {
    local lane
    rm -rf "$LOGS"
    for lane in "${lanes[@]}"; do
        "lane_${lane//-/_}"
    done
    run_queue
}

busy=()
trap '[ ${#busy[@]} = 0 ] || kill "${busy[@]}"' EXIT
for ((i = 0; i < load; i++)); do
    (while true; do true; done) &
    busy+=($!)
done
LOGS=$ROOT/target/test-logs
if [ -z "$rounds" ]; then
    run_lanes
    exit
fi
for ((round = 1; round <= rounds; round++)); do
    echo "== round $round of $rounds"
    run_lanes || die "round $round of $rounds failed: its logs are in $LOGS"
    queue_beside='' queue_alone='' queue_rules=''
done
echo "$rounds rounds passed"
