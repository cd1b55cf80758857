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
# qperf: each test for a second. TCP tells the ends what to do.
if optional /usr/bin/qperf qperf; then
    for test in rc_lat rc_bw rc_bi_bw ud_lat ud_bw ud_bi_bw rc_rdma_read_lat rc_rdma_read_bw rc_rdma_write_lat \
            rc_rdma_write_bw rc_rdma_write_poll_lat uc_lat uc_bw uc_bi_bw uc_rdma_write_lat uc_rdma_write_bw \
            uc_rdma_write_poll_lat rc_compare_swap_mr rc_fetch_add_mr ver_rc_compare_swap ver_rc_fetch_add; do
        pair forever '(latency|bw|msg_rate) +=' 'qperf -lp PORT' "qperf -lp PORT -t 1 127.0.0.1 $test"
    done
fi
