import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { MemoryJournal } from "../plugins/memory/journal.ts";
import type { Channel } from "../src/core/ports/channel.ts";
import { systemClock } from "../src/core/ports/clock.ts";
import { silentLog } from "../src/core/ports/log.ts";
import type { AnyPlugin, PluginContext } from "../src/core/ports/plugin.ts";
import { noTelemetry } from "../src/core/ports/telemetry.ts";
import type { EventBody } from "../src/core/run/events.ts";
import { Admission } from "../src/host/access/admission.ts";
import { LimitSettings, ServerSettings } from "../src/host/config/server.ts";
import { openServer, type RunningServer } from "../src/host/http/server.ts";
import type { ServerDeps } from "../src/host/http/server-deps.ts";
import { type ServiceLimits, serviceLimits } from "../src/host/http/service-limits.ts";
import { HeldMemory } from "../src/host/memory/held-memory.ts";
import type { Script } from "../src/testing/scripted-run.ts";
import { ScriptedRuns } from "../src/testing/scripted-runs.ts";

export interface TestService extends RunningServer {
  readonly runs: ScriptedRuns;
  readonly admission: Admission;
  readonly memory: HeldMemory;
  readonly audit: MemoryJournal;
}

/** The real server with real channels on a loopback port; only the runs are scripted. */
export async function serve(options: {
  scripts: Record<string, Script>;
  channels: readonly { plugin: unknown; options?: Record<string, unknown> }[];
  settings?: z.input<typeof ServerSettings>;
  limits?: Partial<ServiceLimits>;
  ready?: () => Promise<void>;
  /** Other parts of the server. */
  parts?: Partial<ServerDeps>;
}): Promise<TestService> {
  const limits = { ...serviceLimits(LimitSettings.parse({})), ...options.limits };
  const admission = new Admission(limits);
  const runs = new ScriptedRuns(options.scripts, {
    begin: (run) => admission.begin(run),
    end: (run) => admission.end(run),
  });
  const memory = new HeldMemory(limits.memory);
  const audit = new MemoryJournal({ clock: systemClock, keep: 1, lease: 10_000 });
  const channels = [];
  for (const entry of options.channels) channels.push(await channel(entry.plugin as AnyPlugin, entry.options ?? {}));
  const server = await openServer({
    settings: ServerSettings.parse({ listen: 0, ...options.settings }),
    limits,
    runs,
    admission,
    memory,
    telemetry: {
      ...noTelemetry,
      trace: (run) => ({ resourceSpans: [], run }),
      metrics: async (format) => `# ${format}\n`,
    },
    audit,
    clock: systemClock,
    ready: options.ready ?? (async () => {}),
    channels,
    log: silentLog,
    version: "0.0.0",
    ...options.parts,
  });
  return Object.assign(server, { runs, admission, memory, audit });
}

async function channel(plugin: AnyPlugin, raw: Record<string, unknown>) {
  const context: PluginContext = {
    name: plugin.name,
    log: silentLog,
    clock: systemClock,
    folder: ".",
    runs: () => {
      throw new Error("not used");
    },
    resolve: () => {
      throw new Error("there is no container here");
    },
    plugin: () => Promise.reject(new Error("not used")),
  };
  const created = await plugin.create(plugin.options.parse(raw), context);
  return { name: plugin.name, channel: created as Channel<FastifyInstance> };
}

/** A channel with these routes only. */
export const routes = (mount: Channel<FastifyInstance>["mount"]) => ({
  plugin: { name: "routes", options: z.object({}), create: async () => ({ mount }) },
});

export const keyOf = (id: string, secret: string) => ({
  id,
  sha256: createHash("sha256").update(secret).digest("hex"),
});

export const text = (part: string): EventBody => ({ type: "text.delta", round: 1, text: part });

/** Says "Hello world." in three pieces. */
export const hello: Script = async ({ emit }) => {
  emit({ type: "round.started", round: 1, model: "test/model", attempt: 1 }, text("Hel"));
  emit(text("lo"), text(" world."));
  emit({ type: "round.finished", round: 1, finish: "stop", usage: { inputTokens: 3, outputTokens: 5 } });
  return undefined;
};

/** Says one word and then waits for its end. */
export const endless: Script = async ({ emit }) => {
  emit(text("waiting"));
  return await new Promise(() => {});
};
