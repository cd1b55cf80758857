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
package io.netty.channel.rdma.message;

import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.AddressHandle;
import io.netty.channel.rdma.verbs.AddressVector;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.ProtectionDomain;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Life of address handles, and waits for them.
 */
@Tag("quick")
class AddressHandlesTest implements AddressHandles.Listener {
    private final BlockingQueue<Runnable> loop = new LinkedBlockingQueue<>();
    private final List<DatagramSend> made = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final List<AddressHandles> opened = new ArrayList<>();
    private Device device;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws Exception {
        device = Device.open(Device.names().get(0));
        domain = device.allocateProtectionDomain();
    }

    @AfterEach
    void close() {
        opened.forEach(AddressHandles::close);
        // Fails if a handle is left.
        domain.close();
        device.close();
    }

    @Override
    public void made(List<DatagramSend> sends) {
        made.addAll(sends);
    }

    @Override
    public void failed(Collection<DatagramSend> sends, Throwable cause) {
        failures.add(cause);
    }

    private AddressHandles handles(int max, Executor makers) {
        AddressHandles handles = new AddressHandles(domain, max, makers, loop::add, this);
        opened.add(handles);
        return handles;
    }

    /** To the own port, each another way. */
    private AddressVector vector(int hopLimit) throws Exception {
        return AddressVector.global(1, 0, device.gid(1, 0), hopLimit, device.portAttributes(1).lid());
    }

    private static DatagramSend send() {
        return new DatagramSend(Unpooled.EMPTY_BUFFER, null, false, 0);
    }

    @Test
    void handleIsMadeOnceAndTheOldestGoesWhenNothingInFlightNeedsIt() throws Exception {
        AddressHandles handles = handles(2, AddressHandles.AT_ONCE);
        AddressHandle first = handles.get(vector(1), send(), 0);
        assertThat(handles.get(vector(1), send(), 5)).isSameAs(first);
        handles.get(vector(2), send(), 6);
        handles.get(vector(3), send(), 7);
        assertThat(handles.size()).isEqualTo(3);
        handles.completed(5);
        assertThat(first.isOpen()).as("work request 5 is in flight").isTrue();
        handles.completed(6);
        assertThat(first.isOpen()).isFalse();
        assertThat(handles.size()).isEqualTo(2);
        assertThat(handles.get(vector(1), send(), 8)).isNotSameAs(first);
    }

    @Test
    void datagramsWaitInOrderForAHandleThatIsMadeBesideTheLoop() throws Exception {
        AddressHandles handles = handles(2, AddressHandles.BESIDE);
        DatagramSend first = send();
        DatagramSend second = send();
        assertThat(handles.get(vector(1), first, 0)).isNull();
        assertThat(handles.get(vector(1), second, 0)).isNull();
        TestTimeouts.take(loop, "a handle").run();
        assertThat(made).containsExactly(first, second);
        assertThat(handles.get(vector(1), first, 0)).isNotNull();
        assertThat(loop).isEmpty();
    }

    @Test
    void failureIsToldToThoseWhoWait() throws Exception {
        AddressHandles handles = handles(2, AddressHandles.BESIDE);
        assertThat(handles.get(AddressVector.local(200, 1, 0), send(), 0)).isNull();
        TestTimeouts.take(loop, "a failure").run();
        assertThat(failures).singleElement().satisfies(e -> assertThat(e).hasMessageContaining("port 200"));
        assertThat(handles.size()).isZero();
    }

    @Test
    void onlySoManyAreWaitedFor() throws Exception {
        List<Runnable> tasks = new ArrayList<>();
        AddressHandles handles = handles(2, tasks::add);
        for (int i = 0; i < AddressHandles.MAX_PENDING; i++) {
            assertThat(handles.get(AddressVector.local(1, i + 1, 0), send(), 0)).isNull();
        }
        assertThatThrownBy(() -> handles.get(vector(1), send(), 0)).isInstanceOf(IOException.class)
                .hasMessageContaining("too many");
        assertThat(tasks).hasSize(AddressHandles.MAX_PENDING);
    }

    @Test
    void handleThatIsMadeTooLateIsClosed() throws Exception {
        long before = VerbsResource.ADDRESS_HANDLE.live();
        AddressHandles handles = handles(2, AddressHandles.BESIDE);
        assertThat(handles.get(vector(1), send(), 0)).isNull();
        handles.close();
        TestTimeouts.take(loop, "a handle").run();
        assertThat(made).isEmpty();
        assertThat(VerbsResource.ADDRESS_HANDLE.live()).isEqualTo(before);
    }
}
