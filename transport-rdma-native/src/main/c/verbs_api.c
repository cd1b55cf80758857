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
 * Function tables: one for the system's libraries, which is filled when it is first asked for, and one for the embedded
 * provider.
 *
 * The libraries stay loaded, because unloading code that other threads may run is never safe.
 */
#include "verbs_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "embedded/embedded.h"

struct symbol {
    const char *name;
    size_t offset; /* offset of the field in struct verbs_api */
};

static const struct symbol ibverbs_symbols[] = {
#define SYMBOL(ret, name, args) { #name, offsetof(struct verbs_api, name) },
    VERBS_API_IBVERBS(SYMBOL)
};

static const struct symbol rdmacm_symbols[] = {
    VERBS_API_RDMACM(SYMBOL)
};

static const struct symbol optional_symbols[] = {
    VERBS_API_OPTIONAL(SYMBOL)
#undef SYMBOL
};

static const struct verbs_api embedded_api = {
#define EMBEDDED_FIELD(ret, name, args) .name = embedded_##name,
    VERBS_API_IBVERBS(EMBEDDED_FIELD)
    VERBS_API_RDMACM(EMBEDDED_FIELD)
    VERBS_API_OPTIONAL(EMBEDDED_FIELD)
    VERBS_API_EXTENSIONS(EMBEDDED_FIELD)
#undef EMBEDDED_FIELD
};

static void *open_library(const char *name, const char *package, char *reason, size_t reason_size) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(reason, reason_size, "%s cannot be loaded: install %s (%s)", name, package, dlerror());
    }
    return library;
}

static int find_symbols(struct verbs_api *api, void *library, const char *library_name, const struct symbol *symbols,
                        size_t count, char *reason, size_t reason_size) {
    for (size_t i = 0; i < count; i++) {
        /* dlsym() gives the default version, the current ABI: ibv_get_device_list also exists in an old one. */
        void *address = dlsym(library, symbols[i].name);
        if (address == NULL) {
            snprintf(reason, reason_size, "%s has no function %s: install a newer rdma-core", library_name,
                     symbols[i].name);
            return -1;
        }
        *(void **) ((char *) api + symbols[i].offset) = address;
    }
    return 0;
}

static void find_optional_symbols(struct verbs_api *api, void *library) {
    for (size_t i = 0; i < sizeof(optional_symbols) / sizeof(*optional_symbols); i++) {
        *(void **) ((char *) api + optional_symbols[i].offset) = dlsym(library, optional_symbols[i].name);
    }
}

static bool load_ibverbs(struct verbs_api *api, char *reason, size_t reason_size) {
    void *ibverbs = open_library("libibverbs.so.1", "libibverbs1 (rdma-core)", reason, reason_size);
    if (ibverbs == NULL) {
        return false;
    }
    void *rdmacm = open_library("librdmacm.so.1", "librdmacm1 (librdmacm)", reason, reason_size);
    if (rdmacm == NULL) {
        dlclose(ibverbs);
        return false;
    }
    if (find_symbols(api, ibverbs, "libibverbs.so.1", ibverbs_symbols,
                     sizeof(ibverbs_symbols) / sizeof(*ibverbs_symbols), reason, reason_size) < 0
            || find_symbols(api, rdmacm, "librdmacm.so.1", rdmacm_symbols,
                            sizeof(rdmacm_symbols) / sizeof(*rdmacm_symbols), reason, reason_size) < 0) {
        dlclose(rdmacm);
        dlclose(ibverbs);
        return false;
    }
    find_optional_symbols(api, ibverbs);
    return true;
}

static const struct verbs_api *ibverbs_api(char *reason, size_t reason_size) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct verbs_api api;
    static bool loaded;
    pthread_mutex_lock(&lock);
    loaded = loaded || load_ibverbs(&api, reason, reason_size);
    const struct verbs_api *result = loaded ? &api : NULL;
    pthread_mutex_unlock(&lock);
    return result;
}

const struct verbs_api *verbs_api_get(enum verbs_provider provider, char *reason, size_t reason_size) {
    switch (provider) {
        case VERBS_PROVIDER_IBVERBS:
            return ibverbs_api(reason, reason_size);
        case VERBS_PROVIDER_EMBEDDED:
            return embedded_start(reason, reason_size) == 0 ? &embedded_api : NULL;
    }
    snprintf(reason, reason_size, "unknown provider %d", (int) provider);
    return NULL;
}
