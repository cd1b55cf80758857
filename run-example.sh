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

usage() {
    cat <<'END'
Usage: ./run-example.sh [--no-install] EXAMPLE [OPTION...]

Installs what is missing (packages.txt), builds, and runs an example. Needs no RDMA device: where there is none, the
transport uses its embedded provider.

Examples:
  echo         a file of over 100 MB through an echo server and back, SHA-256 compared; then round trips and streaming
               beside epoll TCP, taken in turn. A few minutes; less than one with --quick. See echo --help
  echo-server  only the echo server, until it is stopped: --transport rdma|epoll|nio, --polling, --host, --port
  echo-client  sends a file to such a server: the same options, and --file
  diagnose     which verbs provider the transport would use here and why; devices, ports, GIDs, addresses, limits; what
               to do about what is missing. Exit status 0 if the transport can be used, 1 if not. --provider ibverbs
               tells it about a network adapter in any case
END
}

install=yes
if [ "${1-}" = --no-install ]; then
    install=no
    shift
fi
case ${1-} in
    echo) main=io.netty.example.rdma.compare.Comparison ;;
    echo-server) main=io.netty.example.rdma.echo.EchoServer ;;
    echo-client) main=io.netty.example.rdma.echo.EchoClient ;;
    diagnose) main=io.netty.channel.rdma.RdmaDiagnostics ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac
shift

[ "$install" = no ] || "$ROOT/scripts/packages" install build
find_jdk || die "needs a JDK of at least version 17 (javac); set JAVA_HOME or install the packages of packages.txt"
build example-servers
exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED \
    -cp "$ROOT/example-servers/target/classes:$ROOT/example-servers/target/lib/*" "$main" "$@"
