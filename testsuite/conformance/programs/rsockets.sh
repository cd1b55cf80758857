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
# rsockets: Debian's own, on our connection manager and queue pairs.
# Without sizes rstream runs many tests, over two connections. If the server is done and has hung up while the
# asynchronous client still has data to read, the client reports a failure. So its last line is not certain.
pair once '^64k_bw ' 'rstream -p PORT -T a' 'rstream -s 127.0.0.1 -p PORT -T a'
for test in b n; do
    pair once '^custom .* 4k ' "rstream -p PORT -T $test -S 4096 -C 100 -I 10" \
        "rstream -s 127.0.0.1 -p PORT -T $test -S 4096 -C 100 -I 10"
done
pair once '^custom .* 1m ' 'rstream -p PORT -S 1048576 -C 10 -I 4' \
    'rstream -s 127.0.0.1 -p PORT -S 1048576 -C 10 -I 4'
pair once '^custom .* 64 ' 'riostream -p PORT -S 64 -C 10 -I 1' 'riostream -s 127.0.0.1 -p PORT -S 64 -C 10 -I 1'
dd if=/dev/urandom of="$logs.data" bs=1M count=20 status=none
pair forever 'bytes in' 'rcopy -p PORT' "rcopy $logs.data 127.0.0.1:$logs.copy -p PORT"
if selected rcopy && [ -e "$logs.copy" ]; then
    cmp "$logs.data" "$logs.copy" > "$logs/cmp" 2>&1
    report 'rcopy: the copy' "$([ ! -s "$logs/cmp" ] || echo 'differs')"
fi
rm -f "$logs.data" "$logs.copy"

# udpong's server needs an address: by default it takes the first one of the host's name, which may be ::1.
pair forever '^custom .* 64 ' 'udpong -b 127.0.0.1 -p PORT' 'udpong -s 127.0.0.1 -p PORT -S 64 -C 100'
