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
# The tests of a lane of run-tests.sh, by patterns of their names, and by tags (docs/testsuite.md#tags). Source it after
# common.sh and programs.sh.

# Checks that patterns select a class or a program, like Maven's -Dtest: "A,B*,!C"; a pattern with a slash is for the
# path of a class.
selected() { # PATTERNS NAME PATH
    local pattern each subject status=1 patterns
    IFS=, read -ra patterns <<< "$1"
    [[ ,$1 =~ ,[^!] ]] || status=0
    for pattern in "${patterns[@]}"; do
        each=${pattern#!}
        subject=$2
        [[ $each != */* ]] || subject=$3
        each=${each%.java}
        [[ $subject = $each ]] || continue
        [[ $pattern != !* ]] || return 1
        status=0
    done
    return "$status"
}

# Checks that tests with a tag run in the lane of the tag only.
is_apart() { # TAG
    [[ " $(excluded_tags) " = *" $1 "* ]]
}

# The test classes of a module that -Dtest selects: with a tag, those that have it; without one, those of the lane java.
java_classes() { # MODULE [TAG[|TAG...]]
    local file path without
    # Excludes abstract classes, and classes that run as a whole in another lane or with --all only.
    without="^(public )?abstract class|^@Tag\(\"($(excluded_tags | sed 's/ | /|/g'))\"\)"
    cd "$ROOT/$1/src/test/java"
    # The exit status of grep has no meaning with -L.
    { find . -name '*Test.java' | sort | if [ -n "${2-}" ]; then
            xargs grep -lE "@Tag\(\"($2)\"\)"
        else
            xargs grep -LE "$without"
        fi || true; } | while read -r file; do
        path=${file#./}
        path=${path%.java}
        ! selected "${PATTERNS:-*}" "${path##*/}" "$path" || printf '%s\n' "${path//\//.}"
    done
}

# Checks that a C program has a tag in the comment at its head. Each program has the empty tag.
c_program_has() { # NAME TAG
    [ -z "$2" ] || grep -rqF --include="$1.c" "@Tag(\"$2\")" "$ROOT/transport-rdma-native/src/test/c"
}

# Seconds of a class or program on two idle cores, by scripts/times.
seconds_of() { # LANE NAME
    awk -v lane="$1" -v name="$2" '$2 == name && ($1 == lane || !found) { found = $3 }
        END { print found ? found : 1 }' "$ROOT/scripts/times"
}

# Adds tasks for classes of a module, each of about a minute. The first task has the longest class. JAVA_NEEDS: tasks
# that they need beside the classes.
java_tasks() { # LANE MODULE[:VARIANT] CLASS...
    local lane=$1 module=$2 number=0 seconds classes
    shift 2
    [ $# != 0 ] || return 0
    needs_java "${module%:*}"
    while read -r seconds classes; do
        number=$((number + 1))
        task "$lane" "${module//:/-}-$number" "$seconds" "build/java${JAVA_NEEDS:+ $JAVA_NEEDS}" \
            run_java "$lane" "$module" $classes
    done < <(printf '%s\n' "$@" | awk -v lane="$lane" -v target="$GROUP_SECONDS" '
        FILENAME != "-" { if (!($2 in of) || $1 == lane) of[$2] = $3; next }
        { seconds[++number] = $1 in of ? of[$1] : 1.5; name[number] = $1; all += seconds[number] }
        END {
            groups = int(all / target) + 1
            while (left++ < number) {
                longest = 0
                for (i = 1; i <= number; i++) if (!taken[i] && (!longest || seconds[i] > seconds[longest])) longest = i
                taken[longest] = 1
                least = 1
                for (i = 2; i <= groups; i++) if (sum[i] + 0 < sum[least] + 0) least = i
                sum[least] += seconds[longest]
                members[least] = members[least] " " name[longest]
            }
            for (i = 1; i <= groups; i++) if (members[i] != "") print sum[i] members[i]
        }' "$ROOT/scripts/times" -)
}
GROUP_SECONDS=50
