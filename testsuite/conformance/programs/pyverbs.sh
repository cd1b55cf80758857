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
# The tests of rdma-core, which use libibverbs and librdmacm from Python.

# Tests that fail although the device has no fault: the reason, and a regular expression of their names.
pyverbs_lacks=(
    'a race of the test: it posts sends, and expects their completions to be there at once' '^test_resize_cq$'
)

pyverbs_tests() {
    local name='pyverbs tests/run_tests.py' packaged=/usr/share/doc/rdma-core/tests
    local source=${RDMA_CORE_SOURCE:-} tests reason= status=0 count why i explained=
    selected "$name" || return 0
    if [ -z "$source" ] && [ -e "$packaged/run_tests.py" ]; then
        # Debian's package has them as documentation, the longer ones compressed.
        source=$table.source
        mkdir "$source"
        cp -r "$packaged" "$source/tests"
        gunzip -r "$source/tests"
    elif [ -z "$source" ]; then
        skip "$name" "there is no $packaged, and RDMA_CORE_SOURCE is not set: docs/testsuite.md says how"
        return
    fi
    tests=$source/tests/run_tests.py
    if [ ! -e "$tests" ]; then
        report "$name" "there is no $tests"
        return
    fi
    run /usr/bin/python3 -B "$tests" -v > "$logs/output" 2>&1 || status=$?
    sed -nE 's/^(ERROR|FAIL): ([A-Za-z0-9_]+).*/\2/p' "$logs/output" > "$table.failed"
    sed -nE "s/.*\.\.\. skipped ['\"](.*)['\"]$/\1/p" "$logs/output" | sort | uniq -c | sort -rn > "$table.skipped"
    if ! grep -qE '^Ran [0-9]+ tests' "$logs/output"; then
        reason='ran no tests'
    elif [ "$(sed -nE 's/^Ran ([0-9]+) tests.*/\1/p' "$logs/output")" \
            = "$(sed -nE 's/^OK \(skipped=([0-9]+).*/\1/p' "$logs/output")" ]; then
        reason='skipped all of its tests'
    elif [ "$status" != 0 ] && [ ! -s "$table.failed" ]; then
        reason="exit status $status"
    fi
    for ((i = 0; i < ${#pyverbs_lacks[@]}; i += 2)); do
        while read -r why; do
            row "pyverbs $why" no "${pyverbs_lacks[i]}"
            explained='said for each'
        done < <(grep -E "${pyverbs_lacks[i + 1]}" "$table.failed")
        sed -i -E "/${pyverbs_lacks[i + 1]}/d" "$table.failed"
    done
    reason+=$(tr '\n' ' ' < "$table.failed")
    if [ -z "$reason" ]; then
        lacks=$explained reason=$explained
    fi
    report "$name: $(sed -nE 's/^Ran ([0-9]+) tests.*/\1 tests/p' "$logs/output") $(sed -nE '$s/^[A-Z]+ //p' \
        "$logs/output")" "$reason"
    known
    while read -r count why; do
        row "pyverbs: $count of them" skipped "$why"
    done < "$table.skipped"
}

if optional /usr/lib/python3/dist-packages/pyverbs pyverbs; then
    pyverbs_tests
fi
