import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { expect } from "chai";
import { z } from "zod";
import type { Log } from "../../src/core/ports/log.ts";
import { textLog } from "../../src/host/system/log.ts";
import { type AgentToolPolicy, agent, type Tool, tool } from "../../src/index.ts";
import { type Generation, ScriptedModel, say } from "../../src/testing/model.ts";
import { scripted } from "../library/scripted.ts";
import { testFolder } from "./folder.ts";

const input = z.object({ secret: z.string().optional() });
const make = (name: string, more: Partial<Parameters<typeof tool>[0]> = {}): Tool =>
  tool({ name, description: "d", input, call: () => "the result", ...more } as Parameters<typeof tool>[0]);

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log like ours: what is below its level is written only by `verbose`. */
function collected(least: "debug" | "warn", onLine: (message: string) => void): { lines: Line[]; log: Log } {
  const lines: Line[] = [];
  const add = (level: string) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    lines.push({ level, message, fields: fields ?? {} });
    onLine(message);
  };
  const all = { debug: add("debug"), info: add("info"), warn: add("warn"), error: add("error") };
  return { lines, log: { ...all, ...(least === "warn" ? { debug: () => {}, info: () => {} } : {}), verbose: all } };
}

interface Debugged {
  readonly script: readonly Generation[];
  readonly tools: readonly Tool[];
  readonly policy?: AgentToolPolicy;
  readonly limits?: { readonly maxToolRounds: number };
  readonly level?: "debug" | "warn";
  readonly debug?: boolean;
  readonly onLine?: (message: string) => void;
}

/** The lines of one run's calls: what happened to which tool, and the facts that do not depend on the clock. */
async function linesOf(options: Debugged): Promise<string[]> {
  const { script, tools, policy, limits, level = "debug", debug, onLine = () => {} } = options;
  const { lines, log } = collected(level, onLine);
  const helper = agent({
    name: "helper",
    model: "scripted/m",
    tools,
    ...(policy === undefined ? {} : { toolPolicy: policy }),
    limits: { onLimit: "finish", ...limits },
  });
  const settings = { telemetry: { logs: { level } } };
  const { venturi } = await scripted(script, { agents: [helper], log, settings });
  const onApproval = () => true;
  const run = await venturi.start(helper, "go", { onApproval, ...(debug === undefined ? {} : { debug }) });
  await run.outcome();
  await venturi.close();
  for (const { fields } of lines.filter((line) => line.level === "debug")) expect(fields.run).to.equal(run.id);
  expect(JSON.stringify(lines), "content").not.to.match(/hush|the result/);
  return lines
    .filter((line) => line.level === "debug" && /^tool/.test(line.message))
    .map(({ message, fields: { run: _r, call: _c, round: _o, index: _i, ms: _m, savedMs: _s, ...facts } }) => {
      const { tool: name, trace_id: _t, span_id: _p, ...rest } = facts;
      const shown = Object.entries(rest).filter(([, value]) => value !== undefined);
      return [message, name, ...shown.map(([key, value]) => `${key}=${value}`)].filter(Boolean).join(" ");
    });
}

const fragments = say.fragments({ name: "read", input: { secret: "hush" }, size: 5 });

describe("debug lines of tool calls", () => {
  it("tell each step of a call: opened, fragments, sealed, checked, started, finished", async () => {
    const lines = await linesOf({ script: [[...fragments], ["done"]], tools: [make("read", { effect: "pure" })] });
    expect(lines).to.deep.equal([
      "tool call opened read",
      "tool call sealed read fragments=4 bytes=17 by=arguments",
      "tool call checked read ok=true",
      "tool started read attempt=1",
      "tool finished read ok=true characters=10",
    ]);
  });

  it("say what sealed it: the wire's own end of the call, or the end of the generation", async () => {
    const empty = { type: "tool_call", index: 0, id: "c", name: "read", arguments: "{}" } as const;
    const tools = [make("read")];
    for (const [sealed, by] of [
      [{ sealed: true } as const, "wire"],
      [{}, "generation"],
    ] as const) {
      const lines = await linesOf({ script: [[{ deltas: [{ ...empty, ...sealed }] }], ["done"]], tools });
      expect(lines[1]).to.match(new RegExp(` by=${by}$`));
    }
  });

  it("say what held it back: the generation, a person, room, an exclusive tool, or the round limit", async () => {
    const two = [say.call(0, "read", { secret: "hush" }), say.call(1, "write", {}), say.text("and so on")];
    const gates = async (options: Omit<Debugged, "script">, script: Generation = two) => {
      const onLine = (message: string) => {
        if (message === "tool call gated") gated.resolve();
      };
      const lines = await linesOf({ ...options, script: [script, ["done"]], onLine });
      gated = Promise.withResolvers<void>();
      return lines
        .filter((line) => line.startsWith("tool call gated"))
        .map((line) => line.slice("tool call gated ".length));
    };
    let gated = Promise.withResolvers<void>();
    // Runs until the other call has been held back.
    const read = make("read", { effect: "pure", call: () => gated.promise.then(() => "ok") });
    expect(await gates({ tools: [read, make("write")] })).to.deep.equal(["write by=generation"]);
    expect(
      await gates({ tools: [read, make("write", { effect: "pure" })], policy: { dispatch: "round" } }),
    ).to.deep.equal(["read by=dispatch: round", "write by=dispatch: round"]);
    expect(await gates({ tools: [read, make("write", { approval: "always" })] })).to.deep.equal([
      "write by=generation",
      "write by=approval",
    ]);
    expect(await gates({ tools: [read, make("write", { effect: "pure" })], policy: { concurrency: 1 } })).to.deep.equal(
      ["write by=concurrency"],
    );
    const alone = make("write", { effect: "pure", exclusive: true });
    expect(await gates({ tools: [read, alone] })).to.deep.equal(["write by=an exclusive tool"]);
    const none = await gates({ tools: [read], limits: { maxToolRounds: 0 } }, [say.call(0, "read", {})]);
    expect(none).to.deep.equal(["read by=maxToolRounds"]);
  });

  it("tell of arguments that do not fit, by their code, and of a call that the stream left open", async () => {
    const wrong = await linesOf({ script: [[say.call(0, "read", { secret: 5 })], ["done"]], tools: [make("read")] });
    expect(wrong).to.include("tool call checked read ok=false code=tool_invalid_arguments");
    const cut = await linesOf({
      script: [[...fragments.slice(0, 2), say.fail("llm_error")]],
      tools: [make("read", { effect: "pure" })],
    });
    expect(cut).to.deep.equal([
      "tool call opened read",
      "tool call left open read fragments=1 bytes=5 by=generation.failed",
    ]);
  });

  it("are of one run when it asks for them, whatever the level, and of no other", async () => {
    const run = {
      script: [[...fragments], ["done"]],
      tools: [make("read", { effect: "pure" })],
      level: "warn",
    } as const;
    expect(await linesOf({ ...run, debug: true })).to.have.length(5);
    expect(await linesOf({ ...run, debug: false })).to.deep.equal([]);
    expect(await linesOf(run)).to.deep.equal([]);
  });

  it("cost nothing when they are off", async () => {
    let reads = 0;
    const { log } = collected("warn", () => {});
    const watched: Log = {
      ...log,
      get verbose(): Log {
        reads += 1;
        return log;
      },
    };
    const helper = agent({ name: "helper", model: "scripted/m", tools: [make("read", { effect: "pure" })] });
    const settings = { telemetry: "off" };
    const model = new ScriptedModel([[...fragments], ["done"]]);
    const { openVenturi } = await import("../../src/index.ts");
    const providers = [{ name: "scripted", provider: model }];
    const venturi = await openVenturi({ agents: [helper], log: watched, settings, providers });
    await venturi.run(helper, "go");
    await venturi.close();
    expect(reads).to.equal(0);
  });

  it("are written by `verbose` of our own log, and not where the log is silent", () => {
    const written: string[] = [];
    const write = (line: string) => void written.push(line);
    const log = textLog("warn", write);
    log.debug("a");
    log.verbose?.debug("b");
    textLog("silent", write).verbose?.debug("c");
    expect(written.map((line) => line.slice(13).trim())).to.deep.equal(["debug b"]);
  });

  describe("over HTTP", () => {
    const folder = testFolder();
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    const program = `
import { openService } from ${JSON.stringify(new URL("../../src/host/service.js", import.meta.url).href)};
const { url, drain } = await openService({ configFile: process.argv[2] });
const ask = async (key, body) => {
  const headers = { "content-type": "application/json", authorization: "Bearer " + key };
  const reply = await fetch(url + "/v1/runs", { method: "POST", headers, body: JSON.stringify({ agent: "assistant", input: "What is 17 * 23?", ...body }) });
  const { run, error } = await reply.json();
  return { status: reply.status, run, code: error?.code };
};
const answers = [await ask("plain", { debug: true }), await ask("plain", {}), await ask("looking", { debug: true })];
const socket = new WebSocket(url.replace("http", "ws") + "/ws", ["venturi", "bearer.plain"]);
socket.onopen = () => socket.send(JSON.stringify({ type: "run", agent: "assistant", input: "hi", debug: true }));
const refused = await new Promise((resolve) => { socket.onmessage = ({ data }) => resolve(JSON.parse(data)); });
socket.close();
await drain();
console.log(JSON.stringify({ answers, refused: refused.error?.code }));
`;

    it("a run may ask for them with a key that may inspect, and with no other", async () => {
      const file = folder.write({
        "main.mjs": program,
        "venturi.yaml": `
providers: { demo: { type: simulator, pace: 0 } }
tools: { calculator: { type: calculator } }
agents: { assistant: { model: demo/small, tools: [calculator] } }
journal: { type: memory }
channels: { http: {}, websocket: {} }
server:
  listen: 0
  auth:
    keys:
      - { id: plain, sha256: ${sha256("plain")} }
      - { id: looking, sha256: ${sha256("looking")}, may: [start, see, inspect] }
`,
      });
      const words = ["--no-warnings", file, folder.path("venturi.yaml")];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, words);
      const { answers, refused } = JSON.parse(stdout) as {
        answers: readonly { status: number; run?: string; code?: string }[];
        refused: string;
      };
      expect(answers.map(({ status, code }) => code ?? status)).to.deep.equal(["forbidden", 200, 200]);
      expect(refused).to.equal("forbidden");
      const lines = stderr
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ level }) => level === "debug");
      expect([...new Set(lines.map(({ run }) => run))]).to.deep.equal([answers[2]?.run]);
      expect(lines.map(({ message }) => message)).to.include.members([
        "tool call opened",
        "tool call sealed",
        "tool call checked",
        "tool started",
        "tool finished",
      ]);
      expect(lines[0]).to.have.property("trace_id");
    });
  });
});
