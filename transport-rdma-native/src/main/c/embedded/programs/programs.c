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
/* The constructor, and the functions that newer headers of libibverbs call through the extended context. */
#include "embedded/device/attributes.h"
#include "embedded/device/context.h"
#include "embedded/device/pd.h"
#include "programs.h"
#include "xrcd.h"

static void fill_extended(struct verbs_context *extended) {
    extended->sz = sizeof(*extended);
    extended->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    extended->query_device_ex = attributes_query_device_ex;
    extended->query_port = attributes_query_port;
    extended->query_rt_values = attributes_query_rt_values;
    extended->create_cq_ex = cq_create_ex;
    extended->create_qp_ex = qp_create_ex;
    extended->open_qp = qp_open;
    extended->create_srq_ex = srq_create_ex;
    extended->get_srq_num = srq_get_number;
    extended->open_xrcd = xrcd_open;
    extended->close_xrcd = xrcd_close;
    extended->alloc_td = td_alloc;
    extended->dealloc_td = td_dealloc;
    extended->alloc_parent_domain = pd_alloc_parent;
}

/* Only registers functions, so it may run before or after the constructor of init.c. */
__attribute__((constructor)) static void init(void) {
    device_set_extended(fill_extended);
    uc_init();
    xrc_init();
}
