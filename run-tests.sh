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
Usage: ./run-tests.sh [--no-install] [--repeat N] [--seed N] [--seconds N] [--quick | --rxe | --conformance | LANE...]
                      [-DNAME=VALUE...]

Runs the tests and ends with a summary, whose last line is "N passed, N failed". The exit status is non-zero if anything
failed or did not run. No lane needs an RDMA device: all except rxe* run on the embedded provider.

Lanes (default: these, in this order; the word default stands for them among others):
  scripts      the scripts parse, packages.txt covers what they and the C sources use, docs/testsuite.md is complete,
               links in the documents lead to files, versions in them are those of the build, pictures name what the
               code has, the folders of the C sources include downwards only, no line of C or of a script is longer
               than 120 characters
  c            the C tests of the native library, and that its folders call downwards only, its files in no circle
  c-asan       the same under AddressSanitizer and UndefinedBehaviorSanitizer
  c-tsan       the same under ThreadSanitizer
  c-user       most of them as a user without privileges and with 1024 descriptors, if root runs the lanes
  java         unit and integration tests of every module, and Netty's own transport testsuite
  iwarp        byte streams and channels of messages on the embedded provider as an iWARP device, with librdmacm as peer
  faults       makes each call fail that can fail for lack of a resource
  faults-java  the same for verbs calls, in Java
  containers   the entry point of the container image (docs/containers.md), in namespaces as containers have them
  conformance  unmodified C programs of rdma-core and perftest on the provider's preloadable build
               (--conformance: and many others)
  consumer     applications that see what is deployed only, on the class path and the module path, with each
               JDK there is
  fuzz         fuzz targets for input from peers: they replay their corpora, then run for 20 seconds each (--seconds)
  fuzz-java    the same for the Java side, for 15 seconds each
  chaos        processes with busy connections, stopped and killed at random instants (random input)
  differential random programs of handlers on epoll and on RDMA, whose results are compared (random input)

Parts of the lane java, each the tests of the module of this name and of no other:
  transport-rdma, transport-rdma-vertx, transport-rdma-reactor-netty, testsuite, microbench, example-servers

Parts of the lanes c and java that take minutes: quick-c, quick-java. Which tests, is at the top of scripts/lanes.sh.

Not in the default:
  platforms    a part of the lane java on Java 25, and with a newer Netty: docs/compatibility.md#versions
  reproducible two builds of what a release has, for both platforms, in different folders: the same bytes
  aarch64      most C tests, and some of those in Java, on an emulated aarch64 machine (x86_64 only): half an hour

Neither are these; those in the guest on x86_64 only:
  rxe-c        the C tests on real kernel verbs: soft-RoCE in a QEMU guest (testsuite/rxe/README.md)
  rxe          the Java tests there. --rxe says both (with -Dtest this one)
  rxe-quick    a representative part of the Java tests there
  rxe-transport-rdma, rxe-testsuite, rxe-example-servers
               the Java tests of one module there
  rxe-chaos    the lane chaos there, of it the channels (random input)
  rxe-differential
               the lane differential there (random input)

Options:
  --no-install  do not install missing packages (packages.txt), fail instead
  --quick       scripts, quick-c and quick-java: something of everything, in four minutes on two idle cores
  --conformance the lane conformance with the optional programs (libfabric, UCX, Open MPI, qperf, pyverbs), and a table
                of all: program, version, result, reason. RDMA_CORE_SOURCE: a source tree of the installed version of
                rdma-core, whose tests are run in place of those of the package
  --repeat N    run the lanes N times, but no more after a round in which something failed: its logs are the ones that
                are kept. Each round has its summary; the last line is "N rounds: N passed, N failed"
  --seed N      the seed that a lane with random input has printed: repeats that run
  --seconds N   such a lane runs for N seconds, with new seeds, instead of its fixed set
  -DNAME=VALUE  is passed to Maven: -Dtest=SomeTest selects Java tests of the lanes,
                -Dtest.timeout.multiplier=5 gives slow machines more time (not in the guest: it has its own)

Logs are in target/test-logs.
END
}

default_lanes=(scripts c c-asan c-tsan java iwarp faults faults-java containers conformance consumer fuzz fuzz-java
    chaos differential)
lanes=()
# What is passed to Maven and to the JVMs, and what -Dtest selects.
properties=() PATTERNS=''
install=yes rounds='' load=0
# Of the lanes with random input; empty: the fixed set.
TEST_SEED='' TEST_SECONDS=''
# Not empty: everything, also what repeats other tests.
TEST_ALL=''
# Of testsuite/conformance/run.
CONFORMANCE_OPTION=''
while [ $# != 0 ]; do
    case $1 in
        -h|--help) usage; exit 0 ;;
        --no-install) install=no ;;
        --repeat) [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "--repeat needs a number; see --help"; rounds=$2; shift ;;
        --load) [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "--load needs a number; see --help"; load=$2; shift ;;
        --seed) [[ ${2-} =~ ^-?[0-9]+$ ]] || die "--seed needs a number; see --help"; TEST_SEED=$2; shift ;;
        --seconds) [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "--seconds needs a number; see --help"; TEST_SECONDS=$2; shift ;;
        --all)
            TEST_ALL=yes CONFORMANCE_OPTION=--all
            lanes+=("${default_lanes[@]}" platforms)
            [ "$(uname -m)" != x86_64 ] || lanes+=(rxe-c rxe)
            ;;
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
[[ " ${lanes[*]} " != *" rxe "* || " ${lanes[*]} " = *" rxe-c "* ]] || lanes+=(rxe-c)
[ "${#lanes[@]}" != 0 ] || lanes=("${default_lanes[@]}")

sections=(build tests)
with_interop='java|iwarp|quick-java|testsuite|example-servers|differential|chaos'
with_interop+='|rxe|rxe-testsuite|rxe-example-servers|rxe-differential|rxe-chaos'
[[ ! " ${lanes[*]} " =~ " "($with_interop)" " ]] || sections+=(interop)
[[ " ${lanes[*]} " != *" java "* ]] || sections+=(bench metrics)
[[ " ${lanes[*]} " != *" containers "* ]] || sections+=(containers)
[[ " ${lanes[*]} " != *" conformance "* ]] || sections+=(conformance)
[ -z "$CONFORMANCE_OPTION" ] || sections+=(foreign)
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
