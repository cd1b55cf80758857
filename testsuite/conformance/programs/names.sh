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
# Each public name that takes an object must be ours. Otherwise the name leads into the real library, which takes our
# object for its own. Only pure functions and rsockets, which are Debian's on purpose, are left to the real library.
check_exports() {
    local name='exported names' library pure reason=
    selected "$name" || return 0
    pure='^(ibv_(copy_.*_kern|event_type_str|get_sysfs_path|node_type_str|port_state_str|rate_to_.*|read_sysfs_file'
    pure+='|register_driver|wc_status_str)|copy_.*|.*_to_ibv_rate|rdma_event_str|r[a-ce-z][a-z]*)$'
    names() {
        readelf --dyn-syms -W "$1" | awk '$4 == "FUNC" && $7 != "UND" { sub(/@.*/, "", $8); print $8 }' | sort -u
    }
    for library in libibverbs.so.1 librdmacm.so.1; do
        library=$(ldd "$(command -v rping)" 2> /dev/null | awk -v name="$library" '$1 == name { print $3 }')
        [ -n "$library" ] || { reason="rping is not installed: apt-get install rdmacm-utils"; break; }
        # Names of libibverbs' private interface are only for its own drivers.
        readelf --dyn-syms -W "$library" | grep -v IBVERBS_PRIVATE \
            | awk '$4 == "FUNC" && $7 != "UND" { sub(/@.*/, "", $8); print $8 }' | sort -u > "$table.names"
        [ -s "$table.names" ] || { reason="no names were read in $library"; break; }
        comm -23 "$table.names" <(names "$object") | grep -vE "$pure" >> "$logs/missing"
    done
    [ -n "$reason" ] || [ ! -s "$logs/missing" ] || reason="not exported: $(tr '\n' ' ' < "$logs/missing")"
    report "$name" "$reason"
}

check_exports

# A program that opens the libraries by name, and programs that are linked with them, by LD_LIBRARY_PATH alone.
check_libraries() {
    local folder
    folder=$(dirname "$object")/libraries
    if [ ! -e "$folder/librdmacm.so.1" ]; then
        report by_name "there is no $folder: build it with 'make libraries'"
    elif ! cc -o "$table.by_name" "$root/testsuite/conformance/by_name.c" > "$logs/output" 2>&1; then
        report by_name "does not compile"
    else
        variable=LD_LIBRARY_PATH=$folder
        label="LD_LIBRARY_PATH "
        check '^rsocket 0$' "$table.by_name"
        check 'embedded0 +[[:space:]]+[0-9a-f]{16}' ibv_devices
        pair once 'end 0' 'rdma_server -p PORT' 'rdma_client -s 127.0.0.1 -p PORT'
        pair once '^custom .* 4k ' 'rstream -p PORT -T b -S 4096 -C 100 -I 10' \
            'rstream -s 127.0.0.1 -p PORT -T b -S 4096 -C 100 -I 10'
        variable=LD_PRELOAD=$object
        label=
    fi
}

check_libraries
