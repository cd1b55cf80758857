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
# Valkey's server, and the client of its own RDMA tests: PING, SETs and GETs of thousands of keys, BGSAVE.

valkey_tests() {
    local folder=$table.valkey command threads
    # A pattern for other programs does not build Valkey.
    [ -z "$pattern" ] || [[ $pattern = *rdma-test* ]] || return 0
    PATH=$PATH:$("$root/testsuite/valkey/build") || { report rdma-test 'Valkey could not be built'; return; }
    # A folder for each: the server saves its data when it is stopped, and does not answer while it loads them.
    mkdir "$folder" "$folder"/{1,4,32}
    # The options of tests/rdma/run.py.
    command="valkey-server --port 0 --loglevel verbose --protected-mode yes --appendonly no --daemonize no"
    command+=" --dir $folder/THREADS"' --rdma-bind 127.0.0.1 --rdma-port PORT'
    pair forever 'GET [0-9]+ KVs \[OK\]' "${command/THREADS/1}" 'rdma-test -h 127.0.0.1 -p PORT'
    for threads in 4 32; do
        pair forever '^Valkey Over RDMA test \[OK\]$' "${command/THREADS/$threads}" \
            "rdma-test -h 127.0.0.1 -p PORT --thread $threads"
    done
}

# Building it takes minutes.
if optional "$root/testsuite/valkey/build" rdma-test; then
    valkey_tests
fi
