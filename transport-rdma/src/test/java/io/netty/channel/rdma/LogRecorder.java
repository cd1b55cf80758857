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
package io.netty.channel.rdma;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/**
 * Recorder of the events of a logger and those below it, from its creation to its end.
 */
public final class LogRecorder extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
    private final Logger logger;
    private final Level level;

    /** All loggers, at the level that they have. */
    public LogRecorder() {
        this(org.slf4j.Logger.ROOT_LOGGER_NAME, null);
    }

    /** At this level, too. */
    public LogRecorder(String name, Level level) {
        logger = (Logger) LoggerFactory.getLogger(name);
        this.level = logger.getLevel();
        if (level != null) {
            logger.setLevel(level);
        }
        start();
        logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        events.add(event);
    }

    /** The messages of at least this level. */
    public List<String> messages(Level atLeast) {
        return events.stream().filter(event -> event.getLevel().isGreaterOrEqual(atLeast))
                .map(ILoggingEvent::getFormattedMessage).collect(Collectors.toList());
    }

    /** Returns whether one of these has the trace of an exception. */
    public boolean hasTrace(Level atLeast) {
        return events.stream().anyMatch(event -> event.getLevel().isGreaterOrEqual(atLeast) &&
                event.getThrowableProxy() != null);
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setLevel(level);
    }
}
