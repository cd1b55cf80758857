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
#
# Runs programs and classes of tests: for scripts/task, and for the guests of testsuite/rxe. Source it after common.sh.
#
# Results are lines of these forms, which scripts/summary reads:
#
#   @ GROUP PASSED FAILED SKIPPED            GROUP is a row of the summary
#   ! KIND GROUP NAME COUNT COMMAND          COUNT of the failed ones are those of NAME, a class or a program
#   % NAME SECONDS                           how long a class or program took
#
# KIND: "final" is never run again, because it is no matter of luck: a report of a sanitizer, a leak, a crash, wrong
# data. "again": COMMAND runs the class or program once more, alone. "unrun": it did not begin, because an earlier one
# ended the process. COMMAND runs it for the first time.

# Java classes and C programs whose failure means wrong data, or comes from input that is not the same each time.
NEVER_AGAIN='StreamIntegrity|Differential|Chaos|Faults|Fuzz|HostilePeer|Property|Simulation|Model'
NEVER_AGAIN+='|^chaos|^faults$|hostile'

# The beginning of the message that a CHECK of test/c/check.h prints before it aborts.
FAILED_CHECK='^[^ ]+\.[ch]:[0-9]+: [a-z0-9_]+: '

# Runs a command in a network namespace of its own with only the loopback interface up, if the system allows that.
# ISOLATION: the way to do it (see find_isolation).
isolated() { # COMMAND...
    # The capabilities in the new user namespace are for ip alone.
    local as_before=(setpriv --ambient-caps=-all --inh-caps=-all)
    case ${ISOLATION-} in
        root) unshare --net "$BASH" -c 'ip link set lo up && exec "$@"' "$0" "$@" ;;
        user)
            unshare --user --map-current-user --keep-caps --net "$BASH" -c 'ip link set lo up && exec "$@"' "$0" \
                "${as_before[@]}" "$@"
            ;;
        *) "$@" ;;
    esac
}

# Sets ISOLATION to what isolated() can do here: root, user, or none.
find_isolation() {
    for ISOLATION in root user; do
        ! isolated true 2> /dev/null || return 0
    done
    ISOLATION=none
}

# Runs a C program and counts the tests that it names before running them, as RUN of test/c/check.h does: one in each
# line, indented by two spaces. A program stops at its first failure. If it can run no test, it prints "skipped:" and
# why, and so does a test that leaves something out, which counts as skipped.
# C_ARGUMENTS: its arguments; C_LIMIT: seconds; C_AS: the command that runs it; C_AGAIN: the one that repeats it.
run_c_program() { # GROUP PROGRAM
    local group=$1 program=$2 name output status=0 tests skipped kind=final started=$EPOCHREALTIME
    name=$(basename "$program")
    output=$LOGS/$group/${TASK:-$name}-$name.output
    mkdir -p "$LOGS/$group"
    "${C_AS[@]}" timeout -k 10 "${C_LIMIT:-600}" "$program" "${C_ARGUMENTS[@]}" > "$output" 2>&1 || status=$?
    tests=$(grep -caE '^  [a-z0-9_]+$' "$output" || true)
    skipped=$(awk '/^  [a-z0-9_]+$/ { named = 1 } /^ *skipped: / { count += named; named = 0 }
        END { print count + 0 }' "$output")
    echo "% $name $(elapsed "$started")"
    if [ "$status" = 0 ] && [ "$tests" != 0 ]; then
        echo "ok   $name ($tests)"
        sed -n 's/^ *skipped: /skip in it: /p' "$output"
        echo "@ $group $((tests - skipped)) 0 $skipped"
    elif [ "$status" = 0 ] && grep -qa '^ *skipped: ' "$output"; then
        echo "skip $name ($(sed -n 's/^ *skipped: //p' "$output"))"
        echo "@ $group 0 0 1"
    else
        echo "FAIL $name (exit status $status); the end of $output:"
        tail -n 40 "$output"
        # A status above 128 is a death by signal, which is a crash. Exceptions: SIGALRM (142) is a time limit, like
        # that of timeout(1), and SIGABRT (134) may follow the message of a CHECK. Without this message, it comes from
        # malloc(3) or a sanitizer.
        if { [ "$status" -le 128 ] || [ "$status" = 142 ] \
                    || { [ "$status" = 134 ] && grep -qaE "$FAILED_CHECK" "$output"; }; } \
                && [ -n "${C_AGAIN-}" ] && [[ ! $name =~ $NEVER_AGAIN ]] \
                && ! grep -qaE 'Sanitizer|runtime error:|memcmp' "$output"; then
            kind=again
        fi
        echo "! $kind $group $name 1 ${C_AGAIN-}"
        tests=$((tests - skipped - 1))
        echo "@ $group $((tests > 0 ? tests : 0)) 1 $skipped"
    fi
}

elapsed() { # EPOCHREALTIME at the beginning
    awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", to - from }'
}

# The tags of tests that have a lane of their own or run with --all only, as an expression of JUnit.
excluded_tags() {
    local tags
    tags=$(sed -n 's/.*<tests.excludedTags>\(.*\)<.*/\1/p' "$ROOT/pom.xml")
    echo "${tags%${TEST_ALL:+ | all}}"
}

# Runs test classes of a module in one JVM, by JUnit's console launcher, in which TestReport writes the results.
# JAVA_OPTIONS, JAVA_LAUNCHER_OPTIONS: options of the JVM and of the launcher; JAVA_CLASSES: path of the project's
# folder for the JVM, if different; JAVA_LIMIT: seconds; JAVA_AGAIN: the command that repeats a class, with its name
# added.
run_java_classes() { # GROUP MODULE[:VARIANT] CLASS...
    local group=$1 module=${2%:*} variant=${2#"${2%:*}"} target reports console path jar jars status=0
    target=$ROOT/$module/target
    shift 2
    reports=$target/test-reports/$TASK
    console=$reports/console.txt
    path=$target/test-classes:$target/classes:$(cat "$target/test-classpath")
    # Jars of other versions, in place of those of the same artifacts: the module's own, or those of Netty.
    if [ -n "$variant" ]; then
        jars=$target/${variant#:}
        [ -d "$jars" ] || jars=$ROOT/transport-rdma/target/${variant#:}
        for jar in "$jars"/*.jar; do
            jar=${jar##*/}
            path=$(tr : '\n' <<< "$path" | grep -v "/${jar%%-[0-9]*}-[0-9][^/]*$" | paste -sd :)
        done
        path=$(printf '%s:' "$jars"/*.jar)$path
    fi
    path=${path//"$ROOT/"/"${JAVA_CLASSES:-$ROOT}/"}
    rm -rf "$reports"
    mkdir -p "$reports"
    # JUnit's limits of single tests are for idle machines, so the only limit here is for the process. At SIGQUIT a JVM
    # prints the stack of each thread.
    (cd "$ROOT/$module" && isolated timeout -s QUIT -k 20 "${JAVA_LIMIT:-1800}" \
        "$JAVA_HOME/bin/java" "@$ROOT/testsuite/jvm.options" -Djava.io.tmpdir="${TMPDIR:-/tmp}" "${JAVA_OPTIONS[@]}" \
        -XX:ErrorFile="$reports/hs_err.txt" -XX:HeapDumpPath="$reports" -Dtest.report="$reports/classes" \
        ${variant:+-Dtest.variant="${variant#:}"} -cp "$path" \
        org.junit.platform.console.ConsoleLauncher execute --disable-ansi-colors --disable-banner --details=none \
        --config junit.jupiter.execution.timeout.mode=disabled \
        --config jqwik.database="${TMPDIR:-/tmp}/jqwik-database" \
        --reports-dir "$reports" "${JAVA_LAUNCHER_OPTIONS[@]}" "${@/#/--select-class=}") \
        > "$console" 2>&1 || status=$?
    report_java_classes "$group" "$reports" "$status" "$@"
    rm -rf "$reports/classes"
}

report_java_classes() { # GROUP REPORTS STATUS CLASS...
    local group=$1 reports=$2 status=$3
    shift 3
    [ -e "$reports/classes" ] || touch "$reports/classes"
    awk -v group="$group" -v status="$status" -v classes="$*" -v again="${JAVA_AGAIN-}" -v never="$NEVER_AGAIN" \
        -v crashed="$([ -e "$reports/hs_err.txt" ] && echo 1)" \
        -v leaks="$(grep -qa 'LEAK(s)' "$reports/console.txt" && echo 1)" '
        function failure(kind, name, count) { print "!", kind, group, name, count, again, name }
        NF == 1 { ended = 1; next }
        $1 == "begin" { begun[$2]++; next }
        $1 == "fail" && kind[$2] != "final" { kind[$2] = $2 ~ never ? "final" : $3; next }
        $1 == "end" {
            begun[$2]--; seen[$2] = 1
            passed += $3; failed += $4; skipped += $5; failures[$2] += $4; millis[$2] += $6
        }
        END {
            for (name in failures) {
                printf "%% %s %.1f\n", name, millis[name] / 1000
                if (failures[name] > 0) failure(kind[name], name, failures[name])
            }
            number = split(classes, requested, " ")
            if (!ended) {
                for (i = 1; i <= number; i++) {
                    name = requested[i]
                    if (begun[name] > 0) failure(crashed || name ~ never ? "final" : "again", name, 1)
                    else if (!(name in seen)) failure("unrun", name, 1)
                    else continue
                    failed++
                }
            }
            # A leak that is found at the end of the process belongs to no class.
            if (leaks || failed == 0 && status != 0) {
                failed++
                print "!", "final", group, requested[1] (number > 1 ? "..." : ""), 1
            }
            print "@", group, passed + 0, failed + 0, skipped + 0
        }' "$reports/classes"
    [ "$status" != 0 ] || return 0
    awk '/^FAILED / { lines = 40 } lines-- > 0 && ++all <= 400' "$reports/console.txt"
    # timeout's status after SIGQUIT, and after SIGKILL.
    [ "$status" != 124 ] && [ "$status" != 137 ] \
        || echo "FAIL took longer than ${JAVA_LIMIT:-1800} s; what each thread did then is in $reports/console.txt"
    if grep -qa 'LEAK(s)' "$reports/console.txt"; then
        awk '/LEAK\(s\)/ { leaks = 1 } leaks && ++all <= 100' "$reports/console.txt"
    elif [ -z "$(tail -n 1 "$reports/classes" | grep -x end)" ]; then
        echo "FAIL the JVM came to its end before the tests (status $status); the end of $reports/console.txt:"
        sed '/^Full thread dump/,$d' "$reports/console.txt" | tail -n 40
        [ ! -e "$reports/hs_err.txt" ] || head -n 60 "$reports/hs_err.txt"
    fi
}
