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
package io.netty.channel.rdma.agent.transform;

import io.netty.channel.rdma.agent.options.AgentOptions;

import java.lang.instrument.ClassFileTransformer;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Changes classes of Netty, and other classes that make channels by Netty's factories, so that they call the agent. A
 * class that can't be changed stays as it is.
 */
final class NettyTransformer implements ClassFileTransformer {
    private static final String NETTY = "io/netty/";
    private static final String BOOTSTRAP = "io/netty/bootstrap/AbstractBootstrap";
    /** Bytes that are in each class file with the name of a class of Netty. */
    private static final byte[] CHANNEL = "io/netty/".getBytes(StandardCharsets.UTF_8);
    private static final byte[] FACTORY = "/ChannelFactory".getBytes(StandardCharsets.UTF_8);
    private static final byte[] NEW_CHANNEL = "newChannel".getBytes(StandardCharsets.UTF_8);

    private final AgentOptions options;
    private final Attachments attachments;
    private final HardCasts casts;
    private final Set<String> relocated = ConcurrentHashMap.newKeySet();

    NettyTransformer(AgentOptions options, Attachments attachments, HardCasts casts) {
        this.options = options;
        this.attachments = attachments;
        this.casts = casts;
    }

    @Override
    public byte[] transform(Module module, ClassLoader loader, String name, Class<?> redefined,
                            ProtectionDomain domain, byte[] bytes) {
        if (loader == null || loader == ClassLoader.getPlatformClassLoader() ||
                loader == NettyTransformer.class.getClassLoader() || name == null || redefined != null) {
            return null;
        }
        try {
            if (name.startsWith(NETTY)) {
                return Patches.isPatched(name) && isAttached(loader, module) ?
                        attachments.patched(loader, name, bytes) : null;
            }
            if (name.endsWith(BOOTSTRAP)) {
                if (relocated.add(name)) {
                    Agent.line(name.replace('/', '.') + " is a copy of Netty under another name, whose programs stay " +
                            "on TCP");
                }
                return null;
            }
            return transformOther(loader, name, bytes);
        } catch (Throwable t) {
            // The JDK would silently ignore an exception.
            Agent.line(name.replace('/', '.') + " stays as it is: " + t);
            return null;
        }
    }

    private byte[] transformOther(ClassLoader loader, String name, byte[] bytes) {
        if (!Bytes.contains(bytes, CHANNEL)) {
            return null;
        }
        byte[] changed = casts.look(loader, name, bytes);
        boolean calls = Bytes.contains(bytes, FACTORY) && Bytes.contains(bytes, NEW_CHANNEL);
        if (changed == null && !calls) {
            return null;
        }
        ClassLoader ofNetty = attachments.loaderOfNetty(loader);
        if (ofNetty == null || !isAttached(ofNetty, ofNetty.getUnnamedModule())) {
            return null;
        }
        byte[] caller = calls ? Patches.ofCaller(changed != null ? changed : bytes) : null;
        return caller != null ? caller : changed;
    }

    private boolean isAttached(ClassLoader loader, Module module) {
        Attachments.Result result = attachments.attach(loader, module);
        if (result.isNew() && result.refusal() != null) {
            Agent.refused(options, result.refusal());
        }
        return result.refusal() == null;
    }
}
