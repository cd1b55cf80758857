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
package io.netty.microbench.rdma.sample;

import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.load.LoadCommands;
import io.netty.microbench.rdma.load.Window;
import io.netty.microbench.rdma.process.Child;
import io.netty.microbench.rdma.process.Control;
import io.netty.microbench.rdma.process.Others;
import io.netty.microbench.rdma.process.Probe;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A server and a client of one mode. The comparison sends commands to both, and asks for their use of resources. The
 * server may be several processes, one behind another; their use is added up.
 */
public final class Pair implements AutoCloseable {
    private final List<Child> servers;
    private final Child client;
    private final List<Subject> subjects = new ArrayList<>();

    /**
     * A scenario of the client.
     *
     * @param bytes    bytes of an operation, or 0 if operations are counted
     * @param settling state of this scenario in these processes
     */
    public record Subject(String name, long bytes, Settling settling) {
    }

    /** Length of a slice of the warm-up. Only a cold operation of a large scenario takes longer. */
    private static final int SLICE_MILLIS = 200;
    /** Interval of looks while the compilers work. */
    private static final int LOOK_MILLIS = 20;
    /** Share of a turn through all scenarios: the pair is warm if its compilers took less. */
    private static final double WARM_COMPILING = 0.05;

    /** A window, and the use of resources by the processes and by others in and around it. */
    private record Look(Window window, Probe client, Probe server, long othersNanos) {
    }

    /** Starts the processes of a pair. */
    @FunctionalInterface
    public interface Starter {
        /** Adds the servers, which listen already, and then the client, which has the address of the last one. */
        void start(List<Child> children) throws IOException;
    }

    /** Starts processes, and waits until the client is ready. If that fails, the started processes are ended. */
    public static Pair start(Starter starter) throws IOException {
        List<Child> children = new ArrayList<>();
        try {
            starter.start(children);
            int client = children.size() - 1;
            return new Pair(children.subList(0, client), children.get(client));
        } catch (Exception e) {
            for (Child child : children) {
                child.close();
            }
            throw e;
        }
    }

    private Pair(List<Child> servers, Child client) throws IOException {
        this.servers = List.copyOf(servers);
        this.client = client;
        for (String line = client.line(); !line.equals(LoadCommands.READY); line = client.line()) {
            if (line.startsWith(LoadCommands.SCENARIO)) {
                String[] words = line.substring(LoadCommands.SCENARIO.length()).split(" ", 2);
                subjects.add(new Subject(words[1], Long.parseLong(words[0]), new Settling()));
            }
        }
    }

    /** The scenarios of the client, in its order. */
    public List<Subject> subjects() {
        return subjects;
    }

    /**
     * Does all scenarios in turn, a slice of each, until the compilers of both processes find nothing to do any more.
     * After each slice the event loops rest until the compilers are done. On two cores, loops that never sleep leave
     * the compilers only half of the processor time, so that the warm-up would take twice as long. Code that is
     * compiled for one scenario alone would be thrown away, and compiled again when the next scenario takes other
     * branches.
     *
     * @param numbers     numbers of the scenarios that will be measured
     * @param limitMillis maximum time; the rows show if it was too short
     */
    public void warmUp(List<Integer> numbers, int limitMillis) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        boolean warm = false;
        while (!warm) {
            Probe clientBefore = probe(client);
            Probe serverBefore = probeServers();
            for (int number : numbers) {
                if (System.nanoTime() - end >= 0) {
                    return;
                }
                client.ask(LoadCommands.START + ' ' + number);
                Window window = Window.parse(client.ask(LoadCommands.WINDOW + ' ' + SLICE_MILLIS));
                client.ask(LoadCommands.STOP);
                subjects.get(number).settling().warmedUp(window.nanos() / 1e9);
                awaitCompilers(end);
            }
            warm = compiling(probe(client).since(clientBefore), probeServers().since(serverBefore)) < WARM_COMPILING;
        }
    }

    private void awaitCompilers(long end) throws IOException, InterruptedException {
        pause();
        Probe clientBefore = probe(client);
        Probe serverBefore = probeServers();
        boolean compiling = true;
        while (compiling && System.nanoTime() - end < 0) {
            Thread.sleep(LOOK_MILLIS);
            Probe clientNow = probe(client);
            Probe serverNow = probeServers();
            compiling = Math.max(compilersBusy(clientNow.since(clientBefore)),
                    compilersBusy(serverNow.since(serverBefore))) > WARM_COMPILING;
            clientBefore = clientNow;
            serverBefore = serverNow;
        }
        resume();
    }

    /** Share of the time in which compilers had work, with or without a core. */
    private static double compilersBusy(Probe used) {
        return (double) (used.compilerNanos() + used.compilerWaitNanos()) / used.nanos();
    }

    /** Share of the time in which compilers ran, in the process that compiled more. */
    private static double compiling(Probe client, Probe server) {
        return Math.max((double) client.compilerNanos() / client.nanos(),
                (double) server.compilerNanos() / server.nanos());
    }

    /**
     * Does a scenario until it has settled. Whenever compilers have work, the event loops rest until it is done. Beside
     * loops that never sleep, the compilers would take several times as long, and meanwhile the figures would be those
     * of half compiled code.
     *
     * @param number       number of the scenario
     * @param windowMillis length of a window
     * @param limitMillis  time after which to give up, if there are figures that are not wrong; it includes the rests
     * @return the sample, settled or not
     */
    public Sample sample(int number, int windowMillis, int limitMillis) throws IOException, InterruptedException {
        Subject subject = subjects.get(number);
        Settling settling = subject.settling();
        settling.restart();
        Deque<Look> looks = new ArrayDeque<>();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        // After a later rest there would be no time for the windows of a sample.
        long lastRest = end - TimeUnit.MILLISECONDS.toNanos((long) Settling.WINDOWS * windowMillis);
        client.ask(LoadCommands.START + ' ' + number);
        while (true) {
            Look look = look(windowMillis);
            looks.add(look);
            if (looks.size() > Settling.WINDOWS) {
                looks.remove();
            }
            settling.add(look.window().nanos() / 1e9, look.window().rate(), compiling(look.client(), look.server()));
            long now = System.nanoTime();
            if (settling.state() == Settling.State.SETTLED || now - end >= 0 && settling.state().hasFigures()) {
                break;
            }
            if (settling.isCompiling() && now - lastRest < 0) {
                client.ask(LoadCommands.STOP);
                awaitCompilers(lastRest);
                settling.restart();
                looks.clear();
                client.ask(LoadCommands.START + ' ' + number);
            }
        }
        client.ask(LoadCommands.STOP);
        long nanos = looks.stream().mapToLong(look -> look.client().nanos()).sum();
        return sample(subject, settling.seen(Others.share(looks.stream().mapToLong(Look::othersNanos).sum(), nanos)),
                looks);
    }

    private static Sample sample(Subject subject, Settling.Seen seen, Collection<Look> looks) {
        return Sample.of(subject.name(), subject.bytes(), seen, looks.stream().map(Look::window).toList(),
                looks.stream().map(Look::client).toList(), looks.stream().map(Look::server).toList());
    }

    /**
     * Does a scenario in several pairs at the same time, for a fixed time: the effect of other processes on them is
     * measured, so the rates need not settle.
     *
     * @param number number of the scenario
     * @return the latencies of all pairs, and the mean rate of one of them
     */
    public static Sample sampleTogether(List<Pair> pairs, int number, int millis)
            throws IOException, InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(pairs.size());
        try {
            List<Look> looks = new ArrayList<>();
            for (Future<Look> look : threads.invokeAll(pairs.stream()
                    .map(pair -> (Callable<Look>) () -> pair.look(number, millis)).toList())) {
                looks.add(look.get());
            }
            return sample(pairs.get(0).subjects.get(number), Settling.Seen.SETTLED, looks);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause().getMessage(), e);
        } finally {
            threads.shutdown();
        }
    }

    private Look look(int number, int millis) throws IOException {
        client.ask(LoadCommands.START + ' ' + number);
        Look look = look(millis);
        client.ask(LoadCommands.STOP);
        return look;
    }

    /** Measures a window of the running load. */
    private Look look(int windowMillis) throws IOException {
        Others others = new Others();
        Probe clientBefore = probe(client);
        Probe serverBefore = probeServers();
        Window window = Window.parse(client.ask(LoadCommands.WINDOW + ' ' + windowMillis));
        Probe ofClient = probe(client).since(clientBefore);
        Probe ofServer = probeServers().since(serverBefore);
        return new Look(window, ofClient, ofServer, others.nanos(ofClient.cpuNanos() + ofServer.cpuNanos()));
    }

    /** Process id of the server, the first one if there are several. */
    public long serverPid() {
        return servers.get(0).pid();
    }

    /** Process id of the client. */
    public long clientPid() {
        return client.pid();
    }

    /** Bytes that the server holds, the first one if there are several: see {@link Control#MEMORY}. */
    public long serverMemory() throws IOException {
        return Long.parseLong(servers.get(0).ask(Control.MEMORY));
    }

    /** Bytes that the client holds: see {@link Control#MEMORY}. */
    public long clientMemory() throws IOException {
        return Long.parseLong(client.ask(Control.MEMORY));
    }

    /** Sends a command that only the client has, and returns its answer: see {@link LoadClient#addCommands}. */
    public String askClient(String command) throws IOException {
        return client.ask(command);
    }

    /** Sends a command to each process, to the client last, and returns their answers. */
    public List<String> askAll(String command) throws IOException {
        List<String> answers = new ArrayList<>();
        for (Child server : servers) {
            answers.add(server.ask(command));
        }
        answers.add(client.ask(command));
        return answers;
    }

    /**
     * Binds each event loop of both to a core of its own.
     *
     * @param cores cores for the server's event loops, and then as many for the client's
     */
    public void pin(List<Integer> cores) throws IOException {
        int half = cores.size() / 2;
        servers.get(0).ask(pinTo(cores.subList(0, half)));
        client.ask(pinTo(cores.subList(half, cores.size())));
    }

    private static String pinTo(List<Integer> cores) {
        return Control.PIN + cores.stream().map(core -> " " + core).collect(Collectors.joining());
    }

    /** Parks the event loops of both, so that they take no cores from others. */
    public void pause() throws IOException {
        client.ask(Control.PAUSE);
        for (Child server : servers) {
            server.ask(Control.PAUSE);
        }
    }

    /** Lets the event loops of both run again. */
    public void resume() throws IOException {
        for (Child server : servers) {
            server.ask(Control.RESUME);
        }
        client.ask(Control.RESUME);
    }

    private Probe probeServers() throws IOException {
        Probe sum = probe(servers.get(0));
        for (Child other : servers.subList(1, servers.size())) {
            sum = sum.plus(probe(other));
        }
        return sum;
    }

    private static Probe probe(Child child) throws IOException {
        return Probe.parse(child.ask(Control.PROBE));
    }

    @Override
    public void close() throws IOException {
        client.close();
        for (Child server : servers) {
            server.close();
        }
    }
}
