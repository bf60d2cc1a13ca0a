import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  type ClientCapabilities,
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";

const bin = fileURLToPath(new URL("../../../src/cli/bin.js", import.meta.url));

type Asked = RequestPermissionRequest | CreateElicitationRequest;

/** An editor, by the protocol's own library, with `venturi acp` as its child. */
export class Editor {
  readonly child: ChildProcess;
  readonly updates: SessionUpdate[] = [];
  readonly asked: Asked[] = [];
  /** Chooses an option of a question. */
  permit: (request: RequestPermissionRequest) => RequestPermissionResponse | Promise<RequestPermissionResponse> = () =>
    choose("allow");
  fill: (request: CreateElicitationRequest) => CreateElicitationResponse = () => ({ action: "cancel" });
  onUpdate: (update: SessionUpdate) => void = () => {};
  readonly #connection: ClientConnection;
  readonly capabilities: ClientCapabilities;

  constructor(words: readonly string[], capabilities: ClientCapabilities = {}) {
    this.capabilities = capabilities;
    this.child = spawn(process.execPath, ["--no-warnings", bin, "acp", ...words], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    const { stdin, stdout } = this.child;
    if (stdin === null || stdout === null) throw new Error("no pipes");
    stdin.on("error", () => {}); // it may be killed
    this.#connection = client({ name: "editor" })
      .onNotification("session/update", ({ params: { update } }) => {
        this.updates.push(update);
        this.onUpdate(update);
      })
      .onRequest("session/request_permission", ({ params }) => {
        this.asked.push(params);
        return this.permit(params);
      })
      .onRequest("elicitation/create", ({ params }) => {
        this.asked.push(params);
        return this.fill(params);
      })
      .connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>));
  }

  get agent(): ClientConnection["agent"] {
    return this.#connection.agent;
  }

  async open(cwd = "/project"): Promise<string> {
    await this.agent.request("initialize", { protocolVersion: 1, clientCapabilities: this.capabilities });
    return await this.session(cwd);
  }

  async session(cwd = "/project"): Promise<string> {
    return (await this.agent.request("session/new", { cwd, mcpServers: [] })).sessionId;
  }

  /** Why the turn ended, and its updates alone. */
  async prompt(sessionId: string, text = "go"): Promise<{ stop: string; updates: SessionUpdate[] }> {
    const before = this.updates.length;
    const prompt = [{ type: "text" as const, text }];
    const { stopReason } = await this.agent.request<PromptResponse>("session/prompt", { sessionId, prompt });
    return { stop: stopReason, updates: this.updates.slice(before) };
  }

  async load(sessionId: string): Promise<SessionUpdate[]> {
    const before = this.updates.length;
    await this.agent.request("session/load", { sessionId, cwd: "/project", mcpServers: [] });
    return this.updates.slice(before);
  }

  async mode(sessionId: string, modeId: string): Promise<void> {
    await this.agent.request("session/set_mode", { sessionId, modeId });
  }

  /** Closes the pipe; the program ends by itself. */
  async close(): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    this.child.stdin?.end();
    const [exit] = await once(this.child, "exit");
    return exit;
  }
}

export const choose = (optionId: string): RequestPermissionResponse => ({ outcome: { outcome: "selected", optionId } });

export const textOf = (
  updates: readonly SessionUpdate[],
  kind: SessionUpdate["sessionUpdate"] = "agent_message_chunk",
) =>
  updates
    .filter((update) => update.sessionUpdate === kind)
    .map((update) => ("content" in update ? (update.content as { text?: string }).text : ""))
    .join("");

/** What each call came to, as an editor shows it. Fails for a call that was announced twice, or never. */
export function callsIn(updates: readonly SessionUpdate[]) {
  const calls = new Map<string, Record<string, unknown>>();
  for (const update of updates) {
    if (update.sessionUpdate === "tool_call") {
      if (calls.has(update.toolCallId)) throw new Error(`${update.toolCallId} is announced twice`);
      calls.set(update.toolCallId, { ...update });
    }
    if (update.sessionUpdate !== "tool_call_update") continue;
    const call = calls.get(update.toolCallId);
    if (call === undefined) throw new Error(`${update.toolCallId} was not announced`);
    if (call.status === "completed" || call.status === "failed") throw new Error(`${update.toolCallId} had ended`);
    Object.assign(call, update);
  }
  return [...calls.values()];
}

export const openCalls = (updates: readonly SessionUpdate[]) =>
  callsIn(updates).filter(({ status }) => status !== "completed" && status !== "failed");

const script = (name: string, turns: unknown[]) => ({ name, advance: "round", turns });
const call = (name: string, input: unknown) => ({ calls: [{ name, arguments: input }] });
const results = { text: "{{results}}" };

export const configuration = (more: Record<string, unknown> = {}) =>
  JSON.stringify({
    version: 1,
    providers: {
      demo: {
        type: "simulator",
        wire: "anthropic",
        pace: 0,
        scenarios: [
          script("talk", [{ reasoning: "let me think", text: "hello from here" }]),
          script("slow", [{ text: "one two three four five six seven eight nine ten", pace: 40 }]),
          script("payer", [call("pay", { amount: 10 }), results]),
          script("asker", [call("ask", { question: "Which name?" }), results]),
          script("chooser", [call("ask", { question: "Which?", choices: ["red", "blue"] }), results]),
          script("former", [call("ask", { question: "How many?", fields: { count: "number" } }), results]),
          script("coder", [
            call("files_write", { path: "a.txt", content: "one\ntwo\n" }),
            call("files_edit", { path: "a.txt", find: "two", replace: "three" }),
            call("files_patch", { operation: { type: "update_file", path: "a.txt", diff: "@@\n one\n-three\n+four" } }),
            call("files_read", { path: "a.txt" }),
            call("files_write", { path: "a.txt", content: "all new\n" }),
            call("files_edit", { path: "a.txt", find: "not there", replace: "x" }),
            { text: "done" },
          ]),
          script("planner", [
            call("plan", {
              patch: [{ op: "add", path: "/plan/-", value: { content: "look", status: "pending" } }],
              why: "begin",
            }),
            call("plan", { patch: [{ op: "replace", path: "/plan/0/status", value: "completed" }], why: "done" }),
            { text: "planned" },
          ]),
          script("cut", [{ text: "half of", finish: "length" }]),
          script("refuser", [{ text: "no", finish: "refusal" }]),
          script("endless", [call("pay", { amount: 1 }), call("pay", { amount: 2 }), call("pay", { amount: 3 })]),
          script("failing", [{ error: { status: 400, message: "no such luck" } }]),
        ],
      },
    },
    tools: {
      pay: { type: "module", path: "./pay.mjs" },
      ask: { type: "ask" },
      files: { type: "files", root: "./work", write: true },
      plan: {
        type: "remember",
        scope: "session",
        schema: { type: "object", properties: { plan: { type: "array", items: { type: "object" } } } },
        initial: { plan: [] },
      },
    },
    agents: {
      talk: { model: "demo/talk", overrides: { models: ["demo/cut"] }, description: "Talks" },
      ...Object.fromEntries(["slow", "cut", "refuser", "failing"].map((name) => [name, { model: `demo/${name}` }])),
      payer: { model: "demo/payer", tools: ["pay"] },
      endless: { model: "demo/endless", tools: ["pay"], limits: { maxToolRounds: 1 } },
      ...Object.fromEntries(
        ["asker", "chooser", "former"].map((name) => [name, { model: `demo/${name}`, tools: ["ask"] }]),
      ),
      coder: { model: "demo/coder", tools: ["files"] },
      planner: { model: "demo/planner", tools: ["plan"] },
    },
    journal: { type: "sqlite", path: "./j.db", lease: "1s" },
    telemetry: { logs: { level: "silent" } },
    ...more,
  });

export const pay = `export default {
  description: "Pays",
  parameters: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  approval: "always",
  call: ({ amount }) => "paid " + amount,
};`;
