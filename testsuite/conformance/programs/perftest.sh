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
# The machine may have fewer cores than the two ends spin on, so no long runs.
for command in 'ib_send_lat -n 500' 'ib_send_lat -n 200 -s 65536' 'ib_send_lat -n 200 -e' 'ib_send_lat -n 200 -R' \
        'ib_write_lat -n 10' 'ib_read_lat -n 200' 'ib_atomic_lat -n 200' 'ib_atomic_lat -n 200 -A CMP_AND_SWAP' \
        'ib_send_bw -n 500' 'ib_send_bw -n 100 -s 1048576' 'ib_send_bw -n 200 -e' 'ib_send_bw -n 200 -R' \
        'ib_send_bw -n 200 -b' 'ib_send_bw -n 200 -q 4' 'ib_write_bw -n 500' 'ib_write_bw -n 50 -a' \
        'ib_write_bw -n 200 -R' 'ib_send_lat -c UD -n 200' 'ib_send_lat -c UD -n 100 -e' 'ib_send_bw -c UD -n 500' \
        'ib_send_lat -c UC -n 200' 'ib_send_lat -c UC -n 200 -s 65536' 'ib_send_bw -c UC -n 500' \
        'ib_write_lat -c UC -n 10' 'ib_write_bw -c UC -n 500' 'ib_write_bw -c UC -n 200 -b' \
        'ib_send_lat -c XRC -n 200' 'ib_send_lat -c XRC -n 200 -s 65536' 'ib_send_bw -c XRC -n 500' \
        'ib_send_bw -c XRC -n 200 -e' 'ib_send_bw -c XRC -n 200 -b' 'ib_send_bw -c XRC -n 200 -q 4' \
        'ib_write_lat -c XRC -n 10' 'ib_write_bw -c XRC -n 500' 'ib_read_lat -c XRC -n 200' 'ib_read_bw -c XRC -n 200' \
        'ib_atomic_lat -c XRC -n 200' 'ib_atomic_bw -c XRC -n 200' \
        'ib_send_lat -n 200 --use-srq' 'ib_send_bw -n 500 --use-srq' 'ib_send_bw -n 200 -q 4 --use-srq' \
        'ib_read_bw -n 500' 'ib_read_bw -n 200 -b' 'ib_atomic_bw -n 200' 'ib_atomic_bw -n 200 -A CMP_AND_SWAP'; do
    pair once '^ [0-9]+ +[0-9]+ +[0-9.]+' "$command -p PORT" "$command -p PORT 127.0.0.1"
done

# Options that need a feature which the device lacks.
while IFS='|' read -r why command; do
    if known "$why"; then
        pair once '^ [0-9]+ +[0-9]+ +[0-9.]+' "$command -p PORT" "$command -p PORT 127.0.0.1"
    fi
done <<'END'
no on-demand paging: there is no page table but the processor's|ib_write_bw --odp -n 200
END
