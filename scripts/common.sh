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
# Shared by the scripts: source it. Sets ROOT and JAVA_HOME, and stops children on exit.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$PATH:/usr/sbin:/sbin # ip, depmod and modprobe are there, which is not on every user's path

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

say() {
    printf '== %s\n' "$*"
}

c_sources_of_the_project() {
    find "$ROOT" -name target -prune -o -name .git -prune -o -type f -name '*.[ch]' -print
}

# With the Makefiles.
scripts_of_the_project() {
    local file line
    find "$ROOT" -name target -prune -o -name .git -prune -o -type f -print | while read -r file; do
        line='#!sh'
        [[ $file = */Makefile || $file = *.sh ]] || read -r -n 64 line < "$file" || true
        [[ ! $line =~ ^'#!'(.*[/ ])?(ba)?sh( |$) ]] || printf '%s\n' "$file"
    done
}

# The major version of a JDK's compiler, or nothing.
javac_major() {
    "$1" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p'
}

# Sets JAVA_HOME to a full JDK of at least 17: the given one, else that of the javac on the path.
# False if there is none.
find_jdk() {
    local javac major
    for javac in ${JAVA_HOME:+"$JAVA_HOME/bin/javac"} "$(type -P javac || true)"; do
        [ -x "$javac" ] || continue
        major=$(javac_major "$javac")
        if [ "${major:-0}" -ge 17 ]; then
            JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$javac")")")
            export JAVA_HOME
            return 0
        fi
    done
    # Several JDKs may be installed, and an older one may be the default.
    for javac in /usr/lib/jvm/*/bin/javac; do
        [ -x "$javac" ] || continue
        major=$(javac_major "$javac")
        if [ "${major:-0}" -ge 17 ]; then
            JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$javac")")")
            export JAVA_HOME
            return 0
        fi
    done
    return 1
}

# Maven; its settings, local repository and mirrors are the user's own.
maven() {
    mvn -B -ntp -f "$ROOT/pom.xml" "$@"
}

# Checks that build() has built a module with these arguments, and no source has changed since.
is_built() { # MODULE
    local built=$ROOT/$1/target/built
    # A deleted or renamed file shows in the time of its folder.
    [ -z "${BUILD_PHASE-}" ] && [ -e "$built" ] && grep -qxF -- "arguments: ${BUILD_ARGUMENTS[*]-}" "$built" \
        && [ -z "$(find "$ROOT"/pom.xml "$ROOT"/*/pom.xml "$ROOT"/*/src -newer "$built" -print -quit)" ]
}

# Builds modules and their dependencies without tests, unless no source has changed since. Writes the class path for the
# tests of each module to target/test-classpath. Prints nothing unless it fails. BUILD_ARGUMENTS: more arguments of
# Maven, on which the result depends; BUILD_PHASE: the phase, instead of package; BUILD_LOG: a file for the output.
build() { # MODULE...
    local module log
    while [ $# != 0 ] && is_built "$1"; do
        shift
    done
    [ $# != 0 ] || return 0
    say "building"
    log=${BUILD_LOG:-$(mktemp)}
    echo "arguments: ${BUILD_ARGUMENTS[*]-}" > "$log.started"
    if ! maven -T 1C "${BUILD_PHASE[@]:-package}" dependency:build-classpath -DskipTests \
            -Dmdep.outputFile=target/test-classpath "${BUILD_ARGUMENTS[@]}" \
            -pl "$(IFS=,; echo "$*")" -am > "$log" 2>&1; then
        grep -E '^\[ERROR\]|error:' "$log" >&2 || cat "$log" >&2
        rm "$log.started"
        die "the build failed; all of its output is in $log"
    fi
    for module in "$@"; do
        mkdir -p "$ROOT/$module/target"
        cp -p "$log.started" "$ROOT/$module/target/built"
    done
    rm "$log.started"
    [ -n "${BUILD_LOG-}" ] || rm "$log"
}
