import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Host, openHost } from "../../src/host/open.ts";

/** What each backend is asked about: a run with two tools, one that is tried again, and one that fails. */
export interface Scene {
  readonly host: Host;
  readonly good: Seen;
  readonly retried: Seen;
  readonly failed: Seen;
  close(): Promise<void>;
}

export interface Seen {
  readonly run: string;
  readonly trace: string;
  /** Spans that this process has of the run. */
  readonly spans: readonly SpanJson[];
}

export interface SpanJson {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

const scenario = (name: string, turns: readonly Record<string, unknown>[]) => ({
  name,
  match: { model: name },
  advance: "request",
  turns,
});

export const config = (otlp: string): Record<string, unknown> => ({
  providers: {
    demo: {
      type: "simulator",
      pace: 5,
      scenarios: [
        scenario("again", [{ text: "", faults: "status=503" }, { text: "at the second try" }]),
        scenario("refused", [{ text: "", faults: "status=401" }]),
      ],
    },
  },
  tools: { clock: { type: "clock" }, calculator: { type: "calculator" } },
  agents: {
    assistant: { model: "demo/small", instructions: "You help.", tools: ["clock", "calculator"] },
    retried: { model: "demo/again" },
    failed: { model: "demo/refused" },
    slow: { model: "demo/small!first=4000" },
  },
  journal: { type: "memory" },
  telemetry: { otlp, content: "full", logs: { level: "warn" } },
});

export const question = "What is 12 * 12, and what time is it in Berlin?";

export async function openScene(otlp: string): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), "venturi-backends-"));
  const configFile = join(folder, "venturi.yaml");
  await writeFile(configFile, stringify({ ...config(otlp), channels: {} }));
  const host = await openHost({ configFile });
  const good = await play(host, "assistant");
  const retried = await play(host, "retried");
  const failed = await play(host, "failed");
  await host.telemetry.flush();
  const close = async () => {
    await host.close();
    await rm(folder, { recursive: true });
  };
  return { host, good, retried, failed, close };
}

export async function play(host: Host, agent: string): Promise<Seen> {
  const { run } = await host.runs.start({ agent, input: { text: question } });
  let trace = "";
  for await (const batch of host.runs.follow(run, { channel: "test" })) {
    for (const event of batch) if (event.type === "run.started") trace = event.trace?.split("-")[1] ?? "";
  }
  return { run, trace, spans: spansOf(host.telemetry.trace(run)) };
}

function spansOf(document: unknown): SpanJson[] {
  const { resourceSpans = [] } = (document ?? {}) as { resourceSpans?: { scopeSpans: { spans: SpanJson[] }[] }[] };
  return resourceSpans.flatMap((resource) => resource.scopeSpans.flatMap((scope) => scope.spans));
}

/** Asks again until the answer is there. */
export async function eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const until = Date.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > until) throw new Error(`${what} did not come within a minute`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export async function json(url: string, init?: RequestInit): Promise<unknown> {
  const response = await fetch(url, init);
  return response.ok ? await response.json() : undefined;
}

/** The same spans below the same parents. */
export const edges = (spans: readonly { name: string; id: string; parent: string | undefined }[]): string[] => {
  const names = new Map(spans.map(({ id, name }) => [id, name]));
  return spans.map(({ name, parent }) => `${names.get(parent ?? "") ?? "-"} > ${name}`).sort();
};

export const localEdges = ({ spans }: Seen): string[] =>
  edges(spans.map(({ name, spanId, parentSpanId }) => ({ name, id: spanId, parent: parentSpanId })));
