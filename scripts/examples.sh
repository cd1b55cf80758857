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
# The main class of each example: for run-example.sh, and the container image (containers/entrypoint).

# Prints it; false if there is no example of that name.
example_class() {
    local package=io.netty.example.rdma measured=io.netty.microbench.rdma main
    case ${1-} in
        echo) main=$measured.comparison.EchoComparison ;;
        echo-server) main=$package.echo.EchoServer ;;
        echo-client) main=$package.echo.EchoClient ;;
        http) main=$measured.comparison.ExampleComparison'$HttpComparison' ;;
        http-server) main=$package.http.HttpServer ;;
        http-client) main=$package.http.HttpClient ;;
        h2) main=$measured.comparison.ExampleComparison'$Http2Comparison' ;;
        h2-server) main=$package.http2.Http2Server ;;
        h2-client) main=$package.http2.Http2ClientCommand ;;
        grpc) main=$measured.comparison.ExampleComparison'$GrpcComparison' ;;
        grpc-server) main=$package.grpc.GrpcServerCommand ;;
        grpc-client) main=$package.grpc.GrpcClientCommand ;;
        files) main=$measured.comparison.ExampleComparison'$FileComparison' ;;
        files-server) main=$package.files.FileServer ;;
        websocket) main=$measured.comparison.ExampleComparison'$WebSocketComparison' ;;
        websocket-server) main=$package.websocket.WebSocketServer ;;
        websocket-client) main=$package.websocket.WebSocketClient ;;
        requests) main=$measured.verbs.AllRequests ;;
        requester) main=$package.requests.OperationCommand'$Requester' ;;
        responder) main=$package.requests.OperationCommand'$Responder' ;;
        pubsub) main=$measured.verbs.PubSub ;;
        publisher) main=$package.pubsub.PubSubCommand'$Publisher' ;;
        subscriber) main=$package.pubsub.PubSubCommand'$Subscriber' ;;
        ticker-server) main=$package.reconnect.TickerServer ;;
        ticker-client) main=$package.reconnect.TickerClient ;;
        datagram-server) main=$package.datagrams.DatagramServer ;;
        datagram-client) main=$package.datagrams.DatagramClient ;;
        gpu) main=$measured.verbs.GpuTransfer ;;
        gpu-server) main=$package.gpu.TensorCommand'$TensorServer' ;;
        gpu-client) main=$package.gpu.TensorCommand'$TensorClient' ;;
        multicast) main=$measured.verbs.Multicast ;;
        multicast-publisher) main=$package.datagrams.MulticastCommand'$MulticastPublisher' ;;
        multicast-subscriber) main=$package.datagrams.MulticastCommand'$MulticastSubscriber' ;;
        pingpong) main=$measured.verbs.PingPong ;;
        pingpong-server) main=$package.pingpong.PingPongCommand'$PingPongServer' ;;
        pingpong-client) main=$package.pingpong.PingPongCommand'$PingPongClient' ;;
        blast) main=$measured.verbs.Blast ;;
        blast-server) main=$package.blast.BlastCommand'$BlastServer' ;;
        blast-client) main=$package.blast.BlastCommand'$BlastClient' ;;
        proxy) main=$measured.comparison.ProxyComparison ;;
        agent) main=$measured.comparison.AgentComparison ;;
        valkey) main=$measured.comparison.ValkeyComparison ;;
        proxy-server) main=$package.proxy.ProxyServer ;;
        'top') main=$package.top.Top ;;
        diagnose) main=io.netty.channel.rdma.RdmaDiagnostics ;;
        *) return 1 ;;
    esac
    printf '%s\n' "$main"
}
