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
# libfabric: its verbs provider by itself, and with reliable datagrams on top. -c: both ends check what they receive.
if optional /usr/bin/fi_info fi_info; then
    check 'domain: embedded0-dgram' fi_info -p verbs
    for ends in 'msg -p verbs -d embedded0' 'rdm -p verbs;ofi_rxm -d embedded0' 'dgram -p verbs -d embedded0-dgram'; do
        pair once '^(1m|4k) ' "fi_pingpong -I 20 -c -B PORT -e $ends" "fi_pingpong -I 20 -c -P PORT -e $ends 127.0.0.1"
    done
fi
