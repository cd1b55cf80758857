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
# The queue of run-tests.sh: the tasks of all lanes. make runs them side by side, the longest first. Source it after
# common.sh. A lane adds its tasks by task(), alone() and build_task(). run_queue then runs them by scripts/task.
#
# A task is LANE/NAME. $LOGS has LANE/NAME.log and LANE/NAME.status of each task and, after the task has run,
# LANE/NAME.done, for which make waits.
# Two more than the number of cores, because many tests wait most of the time.
workers=$(($(nproc) + 2))

# Lines "SECONDS TASK", and the rules of the tasks.
queue_beside='' queue_alone='' queue_rules=''

# Adds a task that runs beside others. SECONDS: how long it takes on an idle machine. NEEDS: tasks, or ''.
task() { # LANE NAME SECONDS NEEDS FUNCTION ARGUMENT...
    queue_beside+="$3 $1/$2"$'\n'
    add_rule "$1" "$2" "${@:4}"
}

# Adds a task that keeps all cores busy, or must not be disturbed. These run after all others, one by one.
alone() { # LANE NAME NEEDS FUNCTION ARGUMENT...
    queue_alone+="0 $1/$2"$'\n'
    add_rule "$1" "$2" "${@:3}"
}

# Adds a task that others need, unless there is one of this name.
build_task() { # NAME NEEDS FUNCTION ARGUMENT...
    [[ $queue_rules == *"build/$1.done:"* ]] || task build "$1" 9999 "${@:2}"
}

add_rule() { # LANE NAME NEEDS FUNCTION ARGUMENT...
    local command
    printf -v command '%q ' "$ROOT/scripts/task" "$LOGS" "$1" "$2" "${@:4}"
    # A make that the task starts shares the job slots of the one that runs the queue: hence the plus sign.
    printf -v command '%s:%s\n\t+@%s' "$1/$2.done" "${3:+ ${3// /.done }.done}" "${command//\$/\$\$}"
    queue_rules+=$command$'\n'
}

# Runs all tasks. Then repeats each failure that may run again, and sums up.
run_queue() {
    local variable
    mkdir -p "$LOGS"
    declare -p "${QUEUE_SETTINGS[@]}" > "$LOGS/settings"
    {
        printf 'beside:%s\n' "$(sort -k1,1nr -s <<< "$queue_beside" | awk 'NF { printf " %s.done", $2 }')"
        printf 'alone:%s\n' "$(awk 'NF { printf " %s.done", $2 }' <<< "$queue_alone")"
        printf '%s' "$queue_rules"
    } > "$LOGS/Makefile"
    run_make -j "$workers" beside
    run_make -j 1 alone
    add_again
    run_make -j 1 again
    "$ROOT/scripts/summary" "$LOGS"
}

run_make() {
    # The messages of make report broken tasks, which the summary reports too.
    SHELL=$BASH MAKEFLAGS='' make -s -k --no-print-directory -C "$LOGS" "$@" 2>> "$LOGS/make.log" || true
}

# Adds a task for each class or program that failed and may be run again: lines "again/N KIND GROUP NAME COUNT TASK".
add_again() {
    local log line kind group name count command number=0
    : > "$LOGS/again.list"
    queue_rules=''
    while IFS=: read -r log line; do
        read -r _ kind group name count command <<< "$line"
        [ "$kind" != final ] || continue
        number=$((number + 1)) log=${log#"$LOGS/"}
        echo "again/$number $kind $group $name $count ${log%.log}" >> "$LOGS/again.list"
        eval "add_rule again $number '' $command"
    done < <(grep -raHE --include='*.log' '^! ' "$LOGS" || true)
    [ "$number" = 0 ] || echo "== once more, alone: $number that failed or did not run"
    { printf 'again:%s\n' "$(awk '{ printf " %s.done", $1 }' "$LOGS/again.list")"; printf '%s' "$queue_rules"; } \
        >> "$LOGS/Makefile"
}
