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
# UCX: tags, active messages and one-sided operations on one of its transports only, and that transport alone.
if optional /usr/bin/ucx_info ucx_info; then
    check 'Transport: rc_verbs' ucx_info -d
    for transport in rc ud; do
        export UCX_TLS=$transport UCX_NET_DEVICES=embedded0:1
        label="UCX_TLS=$transport "
        for test in tag_lat tag_bw ucp_am_lat ucp_put_lat ucp_get ucp_add ucp_cswap; do
            pair once '^Final:' 'ucx_perftest -p PORT' "ucx_perftest 127.0.0.1 -p PORT -t $test -n 200 -w 10"
        done
        unset UCX_TLS UCX_NET_DEVICES
        label=
        pair once '^Final:' 'ucx_perftest -p PORT' \
            "ucx_perftest 127.0.0.1 -p PORT -d embedded0:1 -x ${transport}_verbs -t am_lat -n 200 -w 10"
    done
fi
