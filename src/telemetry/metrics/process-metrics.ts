import { readdirSync, readFileSync } from "node:fs";
import { constants, monitorEventLoopDelay, PerformanceObserver, performance } from "node:perf_hooks";
import { getHeapSpaceStatistics } from "node:v8";
import { buckets, processMetrics as names } from "../base/names.ts";
import type { AttributeSets } from "./instruments.ts";
import type { Meter } from "./meter.ts";

/**
 * Process metrics by the semantic conventions: event loop, garbage collection, CPU, memory, handles. Watching starts with the first
 * collection, so that a program whose metrics nobody reads pays nothing. Returns a function that stops it.
 */
export function observeProcess(meter: Meter, sets: AttributeSets): () => void {
  const refreshes = [eventLoop, collections, cpuTime, memory, handles];
  let stops: (() => void)[] | undefined;
  let refresh: (() => void)[] = [];
  meter.observe(() => {
    if (stops === undefined) {
      const observed = refreshes.map((begin) => begin(meter, sets));
      stops = observed.map(({ stop }) => stop);
      refresh = observed.map((each) => each.refresh);
    }
    for (const each of refresh) each();
  });
  return () => {
    for (const stop of stops ?? []) stop();
    stops = [];
    refresh = [];
  };
}

interface Observed {
  refresh(): void;
  stop(): void;
}

const nothing = () => {};
const seconds = (nanoseconds: number): number => nanoseconds / 1e9;

/** Delay of a 20 ms timer since the last collection, and event loop utilization. */
function eventLoop(meter: Meter, sets: AttributeSets): Observed {
  const resolution = 20;
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  const gauge = (name: string, description: string, unit: string) => meter.gauge({ name, description, unit });
  const delay = Object.entries(names.delay).map(([key, name]) => ({
    key: key as keyof typeof names.delay, // A key of this object.
    series: gauge(name, "Event loop delay since the last collection", "s"),
  }));
  const utilization = gauge(names.utilization, "Share of the time the event loop was busy", "1");
  const time = meter.counter({ name: names.loopTime, description: "Time of the event loop, by state", unit: "s" });
  const none = sets.of({});
  const states = { active: sets.of({ [names.loopState]: "active" }), idle: sets.of({ [names.loopState]: "idle" }) };
  let last = performance.eventLoopUtilization();
  return {
    refresh() {
      const now = performance.eventLoopUtilization();
      utilization(none).value = performance.eventLoopUtilization(now, last).utilization;
      last = now;
      time(states.active).value = now.active / 1e3;
      time(states.idle).value = now.idle / 1e3;
      if (delays.count === 0) return;
      const figures = {
        min: delays.min,
        max: delays.max,
        mean: delays.mean,
        stddev: delays.stddev,
        p50: delays.percentile(50),
        p90: delays.percentile(90),
        p99: delays.percentile(99),
      };
      for (const { key, series } of delay) {
        // The monitor's values include its own interval; the standard deviation does not.
        const own = key === "stddev" ? 0 : resolution / 1e3;
        series(none).value = Math.max(0, seconds(figures[key]) - own);
      }
      delays.reset();
    },
    stop: () => void delays.disable(),
  };
}

const kinds: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: "major",
  [constants.NODE_PERFORMANCE_GC_MINOR]: "minor",
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: "incremental",
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: "weakcb",
};

function collections(meter: Meter, sets: AttributeSets): Observed {
  const unit = "s";
  const duration = meter.histogram({ name: names.gc, description: "Garbage collection", unit }, buckets.collection);
  const series = new Map(
    Object.entries(kinds).map(([kind, type]) => [Number(kind), sets.of({ [names.gcType]: type })]),
  );
  for (const set of series.values()) duration(set);
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const set = series.get(kindOf(entry));
      if (set !== undefined) duration(set).record(entry.duration / 1e3);
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  return { refresh: nothing, stop: () => observer.disconnect() };
}

/** Node's types omit the `gc` entry's details. */
function kindOf(entry: object): number {
  const { kind } = ("detail" in entry ? entry.detail : undefined) as { kind?: number };
  return kind ?? -1;
}

function cpuTime(meter: Meter, sets: AttributeSets): Observed {
  const time = meter.counter({ name: names.cpu, description: "CPU time, by mode", unit: "s" });
  const uptime = meter.gauge({ name: names.uptime, description: "Time since the process began", unit: "s" });
  return {
    refresh() {
      const { user, system } = process.cpuUsage();
      time(sets.of({ [names.cpuMode]: "user" })).value = user / 1e6;
      time(sets.of({ [names.cpuMode]: "system" })).value = system / 1e6;
      uptime(sets.of({})).value = process.uptime();
    },
    stop: nothing,
  };
}

function memory(meter: Meter, sets: AttributeSets): Observed {
  const level = (name: string, description: string) => meter.level({ name, description, unit: "By" });
  const usage = level(names.memory, "Resident memory of the process");
  const used = level(names.heapUsed, "Heap in use, by space");
  const size = level(names.heapSize, "Heap allocated, by space");
  return {
    refresh() {
      usage(sets.of({})).value = process.memoryUsage.rss();
      for (const space of getHeapSpaceStatistics()) {
        const set = sets.of({ [names.heapSpace]: space.space_name });
        used(set).value = space.space_used_size;
        size(set).value = space.space_size;
      }
    },
    stop: nothing,
  };
}

/** Active handles by type; on Linux also open files and threads. */
function handles(meter: Meter, sets: AttributeSets): Observed {
  const gauge = meter.gauge({
    name: names.resources,
    description: "Resources that keep the event loop alive, by type",
    unit: "{resource}",
  });
  const files = meter.level({ name: names.files, description: "Open file descriptors", unit: "{file_descriptor}" });
  const threads = meter.level({ name: names.threads, description: "Threads of the process", unit: "{thread}" });
  const seen = new Set<string>();
  return {
    refresh() {
      const counts = new Map<string, number>();
      for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
      for (const type of counts.keys()) seen.add(type);
      for (const type of seen) gauge(sets.of({ [names.resourceType]: type })).value = counts.get(type) ?? 0;
      if (process.platform !== "linux") return;
      try {
        files(sets.of({})).value = readdirSync("/proc/self/fd").length;
        const found = /^Threads:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"));
        threads(sets.of({})).value = Number(found?.[1] ?? 0);
      } catch {
        // A sandbox may hide /proc.
      }
    },
    stop: nothing,
  };
}
