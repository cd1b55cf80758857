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
 * Initialization before the first call: fork handlers, the handlers of the peers' messages, the engine's rounds, and
 * the types of queue pairs. The order matters: pthread_atfork(3) runs the `prepare` handlers in reverse order of
 * registration, and a folder takes its locks before those of the folders below it.
 */
#include "embedded/base/closer.h"
#include "embedded/base/epoch.h"
#include "embedded/base/fork.h"
#include "embedded/base/iwarp.h"
#include "embedded/base/mapped.h"
#include "embedded/base/pinned.h"
#include "embedded/cm/cm.h"
#include "embedded/device/context.h"
#include "embedded/device/cq.h"
#include "embedded/device/lending.h"
#include "embedded/device/mr.h"
#include "embedded/device/qp.h"
#include "embedded/device/mw.h"
#include "embedded/device/peer_memory.h"
#include "embedded/device/presence.h"
#include "embedded/device/watch.h"
#include "embedded/groups/mcast.h"
#include "embedded/link/engine.h"
#include "embedded/link/link.h"
#include "embedded/link/notify_area.h"
#include "embedded/link/peer.h"
#include "embedded/link/process.h"
#include "embedded/rc/rc.h"
#include "embedded/ud/ud.h"

/*
 * The constructor of the provider. No other thread uses the provider while it is loaded. programs/ has another
 * constructor, which may run before or after it.
 */
__attribute__((constructor)) static void init(void) {
    fork_init();
    iwarp_init();
    epoch_init();
    mapped_init();
    pinned_init();
    closer_init();
    engine_init();
    link_init();
    notify_area_init();
    process_init();
    peer_init();
    mcast_init();
    device_init();
    presence_init(cq_rest_targets);
    peer_memory_init();
    lending_init();
    mr_init();
    mw_init();
    cq_engine_init();
    watch_init(qp_round, cq_rest);
    qp_table_init();
    rc_init();
    ud_init();
    cm_init();
    closer_halt_init();
    engine_halt_init();
}
