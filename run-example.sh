#!/usr/bin/env bash
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
. "$(dirname "${BASH_SOURCE[0]}")/scripts/common.sh"
. "$ROOT/scripts/examples.sh"

# List of examples, by purpose, on one screen.
list() {
    cat <<'END'
Usage: ./run-example.sh NAME [OPTION...]  NAME --help: its options; --help: more
The first run installs and builds, in minutes. It needs no RDMA device.

See it work
  echo         echoes a file of 100 MB; then figures beside TCP            2 min
Compare with TCP: answers checked; a table, a chart, a plot (--quick: 30 s)
  http         HTTP/1.1: short answers, pipelining, downloads, uploads     2 min
  h2           HTTP/2: short answers, many streams, downloads, echoes      2 min
  grpc         gRPC: unary calls, an exchange, long messages, streaming    2 min
  files        static files, and ranges of files                           2 min
  websocket    texts and large frames                                      2 min
  proxy        HTTP over TCP to a proxy, then over RDMA                    2 min
  agent        Armeria and Spring WebFlux, without and with -javaagent     2 min
  valkey       the server of Valkey, by its own protocol for RDMA          2 min
Learn verbs: docs/verbs-guide.md goes through these
  requests     read, write, send, immediate data, atomics, memory windows   30 s
  pubsub       a publisher and subscribers, by read and by write            10 s
  multicast    datagrams to a group                                          5 s
  gpu          a tensor between graphics processors, beside TCP (Java 22)   20 s
  datagram-server, datagram-client; ticker-server, ticker-client: below
  pingpong     round trips in several modes, beside perftest               2 min
  blast        chained writes and reads, beside perftest                   2 min
Look inside
  diagnose     this machine's support of RDMA, and how to fix problems       3 s
  top          a running JVM: connections, rates, memory                    live
Servers and clients alone: one in this terminal, the other in the next one
  http-server, http-client ...   also echo-, h2-, grpc-, files-, websocket-, proxy-
  requester, responder ...       ends of the verbs programs: see --help   
END
}

usage() {
    cat <<'END'
Usage: ./run-example.sh [--no-install] EXAMPLE [OPTION...]

Installs missing packages (packages.txt), builds, and runs an example. It needs no RDMA device: without one, the
transport uses its embedded provider. Without EXAMPLE it lists all examples, with their run time.

Comparisons. Each runs a server and a client, checks every answer, and shows figures of RDMA and epoll TCP, in two
minutes. It prints a table after each round and a chart at the end, and draws the chart to target/plots/EXAMPLE.svg
(--plot FILE). --full gives figures to quote, --quick only checks that it works, --polling adds event loops that never
sleep (--rounds N, --tls jdk|openssl, --help). A row that was not steady has a "?" and its range, and the lines below
the table say why. RDMA is the embedded provider; --provider ibverbs --host ADDRESS uses a device:
  echo         a file of over 100 MB, SHA-256 compared; then round trips and streaming, beside a C program on shared
               memory
  http         HTTP/1.1: short answers, pipelining, downloads, chunked uploads
  h2           HTTP/2: short answers, many streams at once, downloads, echoes
  grpc         gRPC: unary calls, a bidirectional stream, messages of 4 MiB, server streaming
  files        static files, and ranges of files; --files region|mapped
  websocket    an echo of texts and of large frames
  proxy        HTTP/1.1 over TCP to a proxy, which connects to the server over RDMA or TCP
  agent        servers and clients of Armeria and Spring WebFlux, which are not changed, without and with the agent
  valkey       SET and GET of the unmodified server of Valkey over RDMA, TCP and a Unix socket. testsuite/valkey/build
               fetches and builds the server, once, in minutes (docs/valkey.md)

Servers and clients alone: --transport rdma|epoll|unix|io_uring|nio (not unix: h2, grpc; auto: clients except
echo's), --polling, --sleeping, --host, --port, --help. Servers on rdma, except echo's, answer TCP clients at
the same port:
  echo-server, echo-client
  http-server, http-client
  h2-server, h2-client
  grpc-server, grpc-client
  files-server (its client is http-client)
  websocket-server, websocket-client
With --rdma-only a server leaves the TCP port free, for a proxy:
  proxy-server --listen tcp:HOST:PORT --to HOST:PORT [--transport auto|rdma|tcp], or --listen rdma:HOST:PORT, auto:...

Verbs programs, on message and datagram channels (docs/verbs-guide.md). Each runs both ends as processes, which check
the bytes that they receive (--size, --polling, --help; all except the last two: --count):
  requests     a requester and a responder: read, write, write and send with immediate, send, also with lists of pieces
               and the program's own receives, atomics, sync events, a text, memory in a request, memory windows;
               each by the connection manager, and by descriptors in files
  pubsub       a publisher and subscribers, by read and by write, with detection of torn data
  gpu          a tensor in memory of a graphics processor goes to that of another process and back, beside memory of
               the host, and copies over TCP; needs Java 22 or later. Without a processor it uses one in software
  multicast    datagrams to a group: a publisher and --subscribers N, --rate N; subscribers may come later or leave
  pingpong     round trips by writes and reads: of one end, of both by writes, or of both by reads; with --mode also by
               messages, by writes with a message or immediate data, by random data
  blast        chained writes, and chained reads, as fast as possible
The last two accept several modes and sizes (--mode, --size 64,64K), and compare with perftest's programs, if these are
installed (--quick, --rounds N, --perftest-options).

One end alone: --host and --port (--adopt: with the program's own event channel), or --descriptors FOLDER, or -ld FILE,
-re FILE and -m FILE; -d NAME, -i PORT and -g INDEX select device, port and GID; --states, --inline-receive BYTES:
  requester, responder (--operation, -r, -w and -s TEXT, --mistake)
  publisher, subscriber (--by read|write, --check crc|twice, --connect, --listen)
  multicast-publisher, multicast-subscriber (--group, --leave-after N, no port and no descriptors)
  datagram-server, datagram-client (datagrams there and back, no descriptors)
  ticker-server, ticker-client (a client that connects again: --ticks N, --count N)
  pingpong-server, pingpong-client, blast-server, blast-client (--mode, --no-check, --warm-up; blast:
  --by-server, --chain)

  top [PID]    shows the transport in a JVM of this user: connections, providers, rates, memory, loops; updated each
               second, or --once, --count N. Without PID it lists the JVMs that use the transport

  diagnose     shows the verbs provider of this machine and its reason, devices, ports, GIDs, addresses, limits, and how
               to fix problems. Exit status 0 if the transport can be used, 1 if not. --provider ibverbs checks the
               network adapter only
END
}

install=yes
if [ "${1-}" = --no-install ]; then
    install=no
    shift
fi
case ${1-} in
    -h|--help) usage; exit 0 ;;
    '') list; exit 0 ;;
esac
main=$(example_class "$1") || { printf '%s: there is no example %s\n\n' "$0" "$1" >&2; list >&2; exit 2; }
sections=(build) arguments=()
case $1 in
    echo|http|h2|grpc|files|websocket|proxy|agent|valkey|pingpong|blast)
        sections+=(bench)
        arguments=(--plot "$ROOT/target/plots/$1.svg")
        ;;
esac
case $1 in
    echo) arguments+=(--limit-program "$ROOT/transport-rdma-native/target/c/shm_limit") ;;
    agent) arguments+=(--agent "$ROOT/microbench/target/agent.jar" --libraries "$ROOT/microbench/target/unmodified") ;;
    valkey) sections+=(valkey); arguments+=(--script "$ROOT/testsuite/valkey/server") ;;
    # The processor in software.
    gpu|gpu-server|gpu-client)
        arguments+=(--software "$ROOT/transport-rdma-native/target/c/obj/fake/libcuda.so.1")
        ;;
    # The embedded provider for the programs of perftest, beside which these run.
    pingpong|blast) arguments+=(--preload "$ROOT/transport-rdma-native/target/c/librdma_embedded.so") ;;
esac
shift

[ "$install" = no ] || "$ROOT/scripts/packages" install "${sections[@]}"
find_jdk || die "needs a JDK of at least version 17 (javac); set JAVA_HOME or install the packages of packages.txt"
[ "$main" != "$(example_class valkey)" ] || "$ROOT/testsuite/valkey/build" --present > /dev/null
build microbench
case $main in
    *.GpuTransfer|*.gpu.*)
        # The foreign function interface, which the JDK of packages.txt lacks.
        for javac in "$JAVA_HOME/bin/javac" /usr/lib/jvm/*/bin/javac; do
            major=$([ ! -x "$javac" ] || javac_major "$javac")
            [ "${major:-0}" -lt 22 ] || break
        done
        [ "${major:-0}" -ge 22 ] \
            || die "CUDA is called from Java 22 or later: install a JDK below /usr/lib/jvm, or set JAVA_HOME"
        JAVA_HOME=${javac%/bin/javac}
        ;;
esac
# The width of a chart. A shell knows it, but does not tell.
if [ -z "${COLUMNS-}" ] && [ -t 1 ]; then
    COLUMNS=$(stty size 2> /dev/null < /dev/tty | cut -d ' ' -f 2) || true
    export COLUMNS
fi
# Plots need no screen.
exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -Djava.awt.headless=true \
    -cp "$ROOT/microbench/target/classes:$ROOT/microbench/target/lib/*" "$main" "${arguments[@]}" "$@"
