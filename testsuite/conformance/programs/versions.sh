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
# Every public name that takes an object must be ours: one that is not leads into the real library, which then takes our
#
# Pairs of programs, one of which is on another build of the provider, "$other". They cover each way from a process to
# another one, and each kind of message.

# A client that is refused by its server. It ends with an error by itself.
refuse() { # output pattern, server command, client command; PORT in them is replaced
    local output=$1 reason='' status=0 name=$label${3//PORT/N}
    selected "$name" || return 0
    port=$((port + 1))
    exec_server ${2//PORT/$port} > "$logs/server" 2>&1 < /dev/null &
    server=$!
    if ! wait_for_server; then
        reason="the server does not listen"
    else
        run ${3//PORT/$port} > "$logs/client" 2>&1 < /dev/null || status=$?
        # timeout(1) has ended what hangs.
        if [ "$status" = 124 ] || [ "$status" = 137 ]; then
            reason="the client hangs"
        elif ! grep -qE -- "$output" "$logs/client"; then
            reason="the client's output has no '$output'"
        fi
    fi
    kill "$server" 2> /dev/null
    wait "$server" 2> /dev/null
    server=
    report "$name" "$reason"
}

# A member of the other build. Two members and a sender of this build send nothing to it.
groups_apart() {
    local name="${label}mckey, a member alone" tries member reason=''
    selected "$name" || return 0
    exec_server stdbuf -oL mckey -m 239.77.2.5 -b 127.0.0.1 -C 5 > "$table.member" 2>&1 &
    member=$!
    for tries in $(seq 200); do
        ! grep -q '^receiving' "$table.member" || break
        sleep 0.05
    done
    local server_variable=$variable pattern=''
    multicast '-m 239.77.2.5 -b 127.0.0.1 -C 5'
    grep -q '^receiving' "$table.member" || reason="did not join: $(tail -n 1 "$table.member")"
    kill "$member" 2> /dev/null || reason=${reason:-"has received what was sent to the other members"}
    wait "$member" 2> /dev/null
    report "$name" "$reason"
}

accepted() {
    local iterations='[0-9]+ iters in .* usec/iter' results='^ [0-9]+ +[0-9]+ +[0-9.]+'
    # By the connection manager: SEND, READ and WRITE; several connections; extended connections; datagrams; groups.
    pair once 'rdma-ping-19:' 'rping -s -C 20 -p PORT' 'rping -c -v -V -C 20 -a 127.0.0.1 -p PORT'
    pair once 'return status 0' 'ucmatose -p PORT -c 20' 'ucmatose -s 127.0.0.1 -p PORT -c 20'
    pair once 'end 0' 'rdma_xserver -c x -p PORT' 'rdma_xclient -c x -s 127.0.0.1 -p PORT'
    fixed=7174 # of udaddy, which has no option for it
    pair once 'return status 0' 'udaddy' 'udaddy -s 127.0.0.1'
    fixed=
    multicast '-m 239.77.2.6 -b 127.0.0.1 -C 10'
    # WRITE with immediate data.
    pair once '^custom .* 64k ' 'rstream -p PORT -S 65536 -C 20 -I 5' \
        'rstream -s 127.0.0.1 -p PORT -S 65536 -C 20 -I 5'
    # By queue pair numbers.
    for command in 'ibv_rc_pingpong -c -n 200' 'ibv_rc_pingpong -c -n 200 -e' 'ibv_rc_pingpong -c -n 10 -s 1048576' \
            'ibv_srq_pingpong -n 200 -q 4' 'ibv_uc_pingpong -n 200' 'ibv_ud_pingpong -n 200' \
            'ibv_ud_pingpong -n 50 -e -g 0'; do
        pair once "$iterations" "$command -p PORT" "$command -p PORT 127.0.0.1"
    done
    for command in 'ib_atomic_lat -n 50' 'ib_atomic_lat -n 50 -A CMP_AND_SWAP' 'ib_read_lat -n 50 -s 65536' \
            'ib_write_lat -n 10' 'ib_send_bw -n 200 -q 4' 'ib_send_lat -c XRC -n 50'; do
        pair once "$results" "$command -p PORT" "$command -p PORT 127.0.0.1"
    done
}

refused() {
    refuse 'RDMA_CM_EVENT_REJECTED, error 31' 'rping -s -p PORT' 'rping -c -v -C 1 -a 127.0.0.1 -p PORT'
    # The client waits by rpoll(), after which it prints whichever error was last.
    refuse '^(rconnect|rpoll): ' 'rstream -p PORT' 'rstream -s 127.0.0.1 -p PORT -S 64 -C 1 -I 1'
    fixed=7174
    refuse 'RDMA_CM_EVENT_UNREACHABLE, error: 5' udaddy 'udaddy -s 127.0.0.1'
    fixed=
    refuse 'transport retry counter exceeded' 'ibv_rc_pingpong -p PORT' 'ibv_rc_pingpong -p PORT 127.0.0.1'
    groups_apart
}

for each in server client; do
    label="an earlier $each, "
    if [ "$each" = server ]; then
        server_variable=LD_PRELOAD=$other variable=LD_PRELOAD=$object
    else
        server_variable=LD_PRELOAD=$object variable=LD_PRELOAD=$other
    fi
    "$verdict"
done
