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
# The examples of libibverbs and librdmacm.

check 'embedded0 +[[:space:]]+[0-9a-f]{16}' ibv_devices
check 'PORT_ACTIVE' ibv_devinfo -v

for options in '' '-e' '-s 1048576 -n 50' '-s 1 -r 16' '-t' '-N' '-N -t -e'; do
    # -c: the client checks every byte that it receives; -t: completions with times; -N: posts by ibv_wr_*
    pair once '[0-9]+ iters in .* usec/iter' "ibv_rc_pingpong -c -p PORT $options" \
        "ibv_rc_pingpong -c -p PORT $options 127.0.0.1"
done

for options in '' '-e' '-s 65536 -n 100 -q 4' '-r 32 -q 2 -c'; do
    pair once '[0-9]+ iters in .* usec/iter' "ibv_srq_pingpong -p PORT $options" \
        "ibv_srq_pingpong -p PORT $options 127.0.0.1"
done

# -V: the client checks what the server wrote back
pair once 'rdma-ping-99:' 'rping -s -C 100 -p PORT' 'rping -c -v -V -C 100 -a 127.0.0.1 -p PORT'
pair once 'rdma-ping-49:' 'rping -s -C 50 -S 65000 -p PORT' 'rping -c -v -V -C 50 -S 65000 -a 127.0.0.1 -p PORT'
pair once 'rdma-ping-19:' 'rping -s -C 20 -a ::0 -p PORT' 'rping -c -v -V -C 20 -a ::1 -p PORT'
pair once 'rdma-ping-19:' 'rping -s -q -C 20 -p PORT' 'rping -c -v -V -q -C 20 -a 127.0.0.1 -p PORT'
pair once 'end 0' 'rdma_server -p PORT' 'rdma_client -s 127.0.0.1 -p PORT'
pair once 'end 0' 'rdma_xserver -p PORT' 'rdma_xclient -s 127.0.0.1 -p PORT'
pair once 'return status 0' 'ucmatose -p PORT' 'ucmatose -s 127.0.0.1 -p PORT'
pair once 'return status 0' 'ucmatose -p PORT -c 100 -C 20 -S 1000' \
    'ucmatose -s 127.0.0.1 -p PORT -c 100 -C 20 -S 1000'
# Two completion queues each.
pair once 'return status 0' 'ucmatose -p PORT -c 5000' 'ucmatose -s 127.0.0.1 -p PORT -c 5000'
pair once 'return status 0' 'ucmatose -p PORT -c 10 -m' 'ucmatose -s 127.0.0.1 -p PORT -c 10 -m'
pair forever '^destroy' 'cmtime -p PORT' 'cmtime -s 127.0.0.1 -p PORT -c 1000'

for options in '' '-e' '-s 65536 -n 200'; do # what is lost is not sent again
    pair once '[0-9]+ iters in .* usec/iter' "ibv_uc_pingpong -p PORT $options" \
        "ibv_uc_pingpong -p PORT $options 127.0.0.1"
done

# Datagrams: by address handle, by the connection manager, and to groups
for options in '' '-e' '-g 0' '-s 4096 -n 200'; do
    pair once '[0-9]+ iters in .* usec/iter' "ibv_ud_pingpong -p PORT $options" \
        "ibv_ud_pingpong -p PORT $options 127.0.0.1"
done
fixed=7174 # of udaddy, which has no option for it
pair once 'return status 0' 'udaddy' 'udaddy -s 127.0.0.1'
pair once 'return status 0' 'udaddy -c 20 -C 50 -S 2000' 'udaddy -s 127.0.0.1 -c 20 -C 50 -S 2000'
fixed=
multicast '-m 239.77.2.3 -b 127.0.0.1 -C 50 -S 500'
multicast '-m 239.77.2.4 -b 127.0.0.1 -C 50' -o
multicast '-m ff1e::77 -b ::1 -C 20'

# Options that need a feature which the device lacks.
for options in '' '-e' '-s 65536' '-g 0'; do
    pair once '^success' "ibv_xsrq_pingpong -p PORT $options" "ibv_xsrq_pingpong -p PORT $options 127.0.0.1"
done
# The answer to a client goes by the queue pair of one client to the shared receive queue of another one.
shared_queue() { # number of clients
    local name="ibv_xsrq_pingpong -c $1, $1 clients" reason clients=() client status limit=10
    selected "$name" || return 0
    reason=$(missing ibv_xsrq_pingpong)
    port=$((port + 1))
    if [ -z "$reason" ]; then
        exec_server ibv_xsrq_pingpong -p $port -c "$1" > "$logs/server" 2>&1 < /dev/null &
        server=$!
        wait_for_server || reason="the server does not listen"
        for client in $(seq "$1"); do
            [ -z "$reason" ] || break
            run ibv_xsrq_pingpong -p $port 127.0.0.1 > "$logs/client$client" 2>&1 < /dev/null &
            clients+=($!)
        done
        [ -z "$reason" ] || kill "$server" 2> /dev/null
        for client in "${clients[@]}" "$server"; do
            status=0
            wait "$client" || status=$?
            [ "$status" = 0 ] || reason=${reason:-"an exit status is $status"}
        done
        server=
    fi
    report "$name" "$reason"
}

pair once 'end 0' 'rdma_xserver -c x -p PORT' 'rdma_xclient -c x -s 127.0.0.1 -p PORT'

while IFS='|' read -r why command; do
    if known "$why"; then
        pair once '[0-9]+ iters in .* usec/iter' "$command -p PORT" "$command -p PORT 127.0.0.1"
    fi
done <<'END'
no on-demand paging: there is no page table but the processor's|ibv_rc_pingpong -o
no device memory|ibv_rc_pingpong -j
END
if known 'no shared receive queues of other processes: docs/providers.md'; then
    shared_queue 2
fi
