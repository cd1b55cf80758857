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
# Open MPI: two ranks on this machine, over UCX and over libfabric alone, without Open MPI's own transports within a
# host. The program comes with mpi4py. It sends a message round, and prints the time of a round.
if optional /usr/lib/python3/dist-packages/mpi4py mpirun; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    ring_test=(/usr/bin/python3 -m mpi4py.bench ringtest -n 10000 -l 100)
    export UCX_NET_DEVICES=embedded0:1
    for transport in rc ud; do
        export UCX_TLS=$transport
        label="UCX_TLS=$transport "
        check '^time for .*2 processes' mpirun --oversubscribe -n 2 --mca pml ucx --mca osc ucx "${ring_test[@]}"
    done
    unset UCX_TLS UCX_NET_DEVICES
    label=
    check '^time for .*2 processes' mpirun --oversubscribe -n 2 --mca pml cm --mca mtl ofi \
        --mca mtl_ofi_provider_include 'verbs;ofi_rxm' "${ring_test[@]}"
    unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
fi
