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
 * A program that opens the libraries by name and looks names up in what it opened, with versions, as language runtimes
 * and plug-ins do: it must find the embedded device, and what is left to the real libraries.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

static void *library(const char *name, int flags) {
    void *handle = dlopen(name, RTLD_NOW | flags);
    if (handle == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return handle;
}

static void *find(void *handle, const char *name, const char *version) {
    void *found = version == NULL ? dlsym(handle, name) : dlvsym(handle, name, version);
    if (found == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return found;
}

static void expect_the_device(const char *name) {
    printf("%s\n", name);
    if (strcmp(name, "embedded0") != 0) {
        exit(1);
    }
}

static void list_verbs_devices(void *verbs, const char *version) {
    struct ibv_device **(*list)(int *) = find(verbs, "ibv_get_device_list", version);
    struct ibv_device **devices = list(NULL);
    expect_the_device(devices != NULL && devices[0] != NULL ? devices[0]->name : "no device");
}

static void list_cm_devices(void *cm, const char *version) {
    struct ibv_context **(*list)(int *) = find(cm, "rdma_get_devices", version);
    struct ibv_context **contexts = list(NULL);
    expect_the_device(contexts != NULL && contexts[0] != NULL ? contexts[0]->device->name : "no device");
}

int main(void) {
    void *verbs = library("libibverbs.so.1", RTLD_LOCAL);
    list_verbs_devices(verbs, NULL);
    list_verbs_devices(verbs, "IBVERBS_1.1");
    void *cm = library("librdmacm.so.1", RTLD_LOCAL | RTLD_DEEPBIND);
    list_cm_devices(cm, NULL);
    list_cm_devices(cm, "RDMACM_1.0"); /* the library's first version, which ld.so treats differently */
    int (*rsocket)(int, int, int) = find(cm, "rsocket", NULL);
    int (*rclose)(int) = find(cm, "rclose", "RDMACM_1.0");
    printf("rsocket %d\n", rclose(rsocket(AF_INET, SOCK_STREAM, 0)));
    return dlvsym(verbs, "ibv_get_device_list", "IBVERBS_0.0") == NULL ? 0 : 1;
}
