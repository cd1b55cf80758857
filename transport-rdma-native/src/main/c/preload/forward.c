/*
 * Copyright 2026 The Netty Project
 *
 * The Netty Project licenses this file to you under the Apache License,
 * version 2.0 (the "License"); you may not use this file except in compliance
 * with the License. You may obtain a copy of the License at:
 *
 *   https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
 * License for the specific language governing permissions and limitations
 * under the License.
 */
/*
 * Preload object's view of verbs_api.h: each public name resolves to the embedded function of the same signature.
 *
 * The symbols carry no version on purpose. The dynamic linker then binds every versioned reference of the program and
 * its libraries to them (ld.so(8), "versioning"); a version script would have to repeat libibverbs' own exactly.
 */
#include "verbs_api.h"

#if defined(__x86_64__)
#define JUMP "jmp"
#elif defined(__aarch64__)
#define JUMP "b"
#else
#error "add the unconditional branch instruction of this architecture"
#endif

/*
 * Jump to the embedded function. It costs one line for all names, while hand-written forwarders would repeat every
 * argument list. Aliases cannot cross object files, and indirect functions cannot be resolved for libraries that are
 * relocated before this one.
 */
#define FORWARD_TO(target, name)                                                                                      \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n"                                                   \
            #name ": " JUMP " " #target "\n.size " #name ", .-" #name "\n");
#define FORWARD(ret, name, args) FORWARD_TO(embedded_##name, name)

VERBS_API_IBVERBS(FORWARD)
VERBS_API_RDMACM(FORWARD)
VERBS_API_OPTIONAL(FORWARD)

/* Names that no Java caller needs. The target has the same arguments. */
FORWARD_TO(mr_register, ibv_reg_mr_iova)
FORWARD_TO(mr_register, ibv_reg_mr_iova2)
FORWARD_TO(mr_reregister, ibv_rereg_mr)
FORWARD_TO(cq_resize, ibv_resize_cq)
FORWARD_TO(qp_to_ex, ibv_qp_to_qp_ex)
FORWARD_TO(embedded_rdma_create_ep, rdma_create_ep)
FORWARD_TO(embedded_rdma_destroy_ep, rdma_destroy_ep)
FORWARD_TO(embedded_rdma_get_request, rdma_get_request)
FORWARD_TO(embedded_rdma_establish, rdma_establish)
FORWARD_TO(embedded_rdma_init_qp_attr, rdma_init_qp_attr)
FORWARD_TO(embedded_rdma_create_qp_ex, rdma_create_qp_ex)
FORWARD_TO(embedded_rdma_create_srq, rdma_create_srq)
FORWARD_TO(embedded_rdma_create_srq_ex, rdma_create_srq_ex)
FORWARD_TO(embedded_rdma_destroy_srq, rdma_destroy_srq)
