import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { WebSocket } from "ws";
import { silentLog } from "../../src/core/ports/log.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { keyOf } from "../service.ts";

const may = ["start", "see", "steer", "inspect", "approve"];
const keys = [
  { ...keyOf("ada", "ada-key"), may },
  { ...keyOf("bob", "bob-key"), may },
  { ...keyOf("ada-phone", "phone-key"), tenant: "ada", may },
  { ...keyOf("narrow", "narrow-key"), tenant: "ada", agents: ["other"], may },
];
const config = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { sum: { type: calculator, approval: always } }
agents: { assistant: { model: demo/small }, other: { model: demo/small, tools: [sum] } }
journal: { type: sqlite, path: ":memory:" }
server: { listen: 0, auth: { keys: ${JSON.stringify(keys)} } }
channels: { http: { type: channel-http }, ws: { type: channel-websocket }, openai: { type: channel-openai }, sdk: { type: channel-ai-sdk }, a2a: { type: channel-a2a }, mcp: { type: channel-mcp } }
telemetry: off
`;

interface View {
  readonly run: string;
  readonly usage: { readonly inputTokens: number };
  readonly runs: readonly { readonly run: string }[];
  readonly cursor?: string;
  readonly error: { readonly code: string; readonly err: string };
}

describe("two tenants of one service", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-tenants-"));
  let service: Service;
  before(async () => {
    const configFile = join(folder, "venturi.yaml");
    writeFileSync(configFile, config);
    service = await openService({ configFile, env: {}, log: silentLog });
  });
  after(async () => {
    await service.drain();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (key: string, path: string, init: { body?: unknown; headers?: Record<string, string> } = {}) => {
    const response = await fetch(service.url + path, {
      headers: { authorization: `Bearer ${key}-key`, "content-type": "application/json", ...init.headers },
      ...(init.body === undefined ? {} : { method: "POST", body: JSON.stringify(init.body) }),
    });
    return { status: response.status, body: (await response.json()) as View };
  };
  const start = async (key: string, rest: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    (await ask(key, "/v1/runs", { body: { agent: "assistant", input: "My name is Ada.", ...rest }, headers })).body;

  it("with a session of the same name have two conversations", async () => {
    const alone = await start("ada", { session: "chat" });
    const stranger = await start("bob", { session: "chat" });
    expect(stranger.usage.inputTokens).to.equal(alone.usage.inputTokens);
    const second = await start("ada", { session: "chat" });
    expect(second.usage.inputTokens).to.be.greaterThan(alone.usage.inputTokens);
    const phone = await start("phone", { session: "chat" });
    expect(phone.usage.inputTokens).to.be.greaterThan(second.usage.inputTokens);
    const seen = async (key: string) => (await ask(key, "/v1/sessions/chat")).body.runs.map(({ run }) => run);
    expect(await seen("bob")).to.deep.equal([stranger.run]);
    expect(await seen("ada")).to.deep.equal([alone.run, second.run, phone.run]);
    expect((await ask("bob", "/v1/sessions/elsewhere")).status).to.equal(404);
  });

  it("do not wait for each other in it", async () => {
    const { runs } = service.host;
    const journal = service.host.journal;
    await journal.enqueue({
      run: "stuck",
      tenant: "ada",
      session: "queue",
      request: { agent: "nobody here has it", input: {} },
    });
    expect(await start("bob", { session: "queue" })).to.have.property("run");
    await runs.cancel("stuck");
  });

  it("with the same Idempotency-Key start two runs, and find each its own", async () => {
    const header = { "idempotency-key": "k" };
    const ada = await start("ada", {}, header);
    const bob = await start("bob", {}, header);
    expect(bob.run).not.to.equal(ada.run);
    expect((await start("ada", {}, header)).run).to.equal(ada.run);
    expect((await start("phone", {}, header)).run).to.equal(ada.run);
  });

  it("do not learn of each other's runs on any surface: the answer is the one for a run that does not exist", async () => {
    const { run } = await start("ada", { session: "private" });
    const surfaces: [string, { body?: unknown }?][] = [
      ["/v1/runs/RUN"],
      ["/v1/runs/RUN/events"],
      ["/v1/runs/RUN/trace"],
      ["/v1/runs/RUN/cancel", { body: {} }],
      ["/v1/runs/RUN/messages", { body: { text: "hi" } }],
      ["/v1/runs/RUN/approvals/c", { body: { approved: true } }],
      ["/openai/v1/responses", { body: { model: "assistant", input: "hi", previous_response_id: "resp_RUN" } }],
    ];
    for (const [path, init = {}] of surfaces) {
      const of = (id: string) => ({
        path: path.replace("RUN", id),
        init: JSON.parse(JSON.stringify(init).replace("RUN", id)) as typeof init,
      });
      const theirs = of(run);
      const nobodys = of("run_000000000nobody");
      for (const key of ["bob", "narrow"]) {
        const real = await ask(key, theirs.path, theirs.init);
        const none = await ask(key, nobodys.path, nobodys.init);
        expect(real.status, path).to.equal(none.status).and.to.be.within(400, 499);
        expect(JSON.stringify(real.body).replaceAll(run, "RUN"), path).to.equal(
          JSON.stringify(none.body).replaceAll("run_000000000nobody", "RUN"),
        );
        expect(JSON.stringify(real.body)).not.to.include("assistant");
      }
    }
  });

  it("nor over a WebSocket", async () => {
    const { run } = await start("ada");
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`, {
      headers: { authorization: "Bearer bob-key" },
    });
    await new Promise((resolve) => socket.once("open", resolve));
    for (const command of [
      { type: "subscribe", run },
      { type: "cancel", run },
      { type: "message", run, text: "hi" },
      { type: "approve", run, call: "c", approved: true },
    ]) {
      const answer = new Promise<string>((resolve) => socket.once("message", (data) => resolve(String(data))));
      socket.send(JSON.stringify(command));
      expect(JSON.parse(await answer), command.type).to.have.nested.property("error.code", "not_found");
    }
    socket.terminate();
  });

  it("get full pages of their own runs, whatever lies between", async () => {
    for (let n = 0; n < 6; n++) {
      await start("bob");
      await start("ada", { agent: "other" });
    }
    const pages = async (key: string, query: string) => {
      const sizes: number[] = [];
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const { body } = await ask(key, `/v1/runs?limit=2${query}${cursor === undefined ? "" : `&cursor=${cursor}`}`);
        sizes.push(body.runs.length);
        seen.push(...body.runs.map(({ run }) => run));
        cursor = body.cursor;
      } while (cursor !== undefined);
      return { sizes, seen };
    };
    const narrow = await pages("narrow", "");
    expect(narrow.sizes).to.deep.equal([2, 2, 2]);
    const bob = new Set((await pages("bob", "")).seen);
    for (const run of (await pages("ada", "")).seen) expect(bob.has(run)).to.equal(false);
    expect(new Set((await pages("phone", "")).seen)).to.deep.equal(new Set((await pages("ada", "")).seen));
  });

  it("a key that may use some agents learns of no others", async () => {
    const { body } = await ask("narrow", "/v1/agents");
    expect(JSON.stringify(body)).not.to.include("assistant");
    const unknown = await ask("narrow", "/v1/runs", { body: { agent: "nonsense", input: "x" } });
    const forbidden = await ask("narrow", "/v1/runs", { body: { agent: "assistant", input: "x" } });
    expect([unknown.status, forbidden.status]).to.deep.equal([403, 403]);
    expect(forbidden.body.error.err.replace("assistant", "nonsense")).to.equal(unknown.body.error.err);
  });

  describe("a key that may use some agents, in a session with a run of another", () => {
    let own: View;
    before(async () => {
      await start("ada", { session: "conv_mixed" });
      own = await start("ada", { session: "conv_mixed", agent: "other" });
      await start("narrow", { session: "conv_narrow", agent: "other" });
    });
    const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }], contextId: "SESSION" };
    const channels: [string, object][] = [
      ["/v1/runs", { agent: "other", input: "hi", session: "SESSION" }],
      ["/openai/v1/responses", { model: "other", input: "hi", conversation: "SESSION" }],
      ["/openai/v1/responses/input_tokens", { model: "other", input: "hi", conversation: "SESSION" }],
      ["/a2a/other", rpc("SendMessage", { message })],
      ["/mcp", rpc("tools/call", { name: "other", arguments: { input: "hi", session: "SESSION" } })],
    ];
    for (const [path, asked] of channels) {
      it(`goes on with its own conversation, and not with that one: ${path}`, async () => {
        const within = async (session: string) => {
          const body = JSON.parse(JSON.stringify(asked).replace("SESSION", session)) as object;
          const headers = { accept: "application/json, text/event-stream", "a2a-version": "1.0" };
          const response = await fetch(service.url + path, {
            method: "POST",
            headers: { authorization: "Bearer narrow-key", "content-type": "application/json", ...headers },
            body: JSON.stringify(body),
          });
          return await response.text();
        };
        expect(await within("conv_narrow")).not.to.include("there is no session");
        expect(await within("conv_mixed")).to.include('there is no session \\"conv_mixed\\"');
      });
    }

    it("neither follows, forks nor reads the prompt of its own agent's run there", async () => {
      const answers = [
        await ask("narrow", "/openai/v1/responses", {
          body: { model: "other", input: "hi", previous_response_id: `resp_${own.run}` },
        }),
        await ask("narrow", `/v1/runs/${own.run}/fork`, { body: { after: 1 } }),
        await ask("narrow", `/v1/runs/${own.run}/prompts/1`),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 404]);
      expect((await ask("ada", `/v1/runs/${own.run}/prompts/1`)).status).to.equal(200);
      expect((await ask("narrow", `/v1/runs/${own.run}`)).status, "the run itself").to.equal(200);
    });

    it("has its run fail that the other one came before", async () => {
      const { journal, runs } = service.host;
      const request = {
        agent: "other",
        input: { text: "hi" },
        session: "conv_mixed",
        caller: { id: "narrow", agents: ["other"] },
      };
      await journal.enqueue({ run: "late", tenant: "ada", session: "conv_mixed", request });
      let last: unknown;
      for await (const batch of runs.follow("late")) last = batch.at(-1);
      expect(last).to.have.nested.property("error.code", "not_found");
    });

    it("has its run go on that waited while the other one ended", async () => {
      const { runs } = service.host;
      const asked = { agent: "other", input: "What is 17 * 23?", session: "conv_waits" };
      const { run } = await start("narrow", asked, { prefer: "respond-async" });
      const types: string[] = [];
      let answered: Promise<unknown> | undefined;
      for await (const batch of runs.follow(run)) {
        types.push(...batch.map(({ type }) => type));
        const question = batch.find(({ type }) => type === "approval.requested");
        if (question === undefined || !("call" in question)) continue;
        while ((await runs.get(run)).state === "running") await new Promise(setImmediate); // It is parked.
        const { run: other } = await start("ada", { session: "conv_waits" }, { prefer: "respond-async" });
        await ask("ada", `/v1/runs/${other}/cancel`, { body: {} });
        answered = ask("ada", `/v1/runs/${run}/approvals/${question.call}`, { body: { approved: true } });
      }
      await answered;
      expect(types.at(-1)).to.equal("run.finished");
    });

    it("goes on with a conversation in which its own agent's tool has started another agent", async () => {
      const { journal, runs } = service.host;
      const caller = { id: "narrow", agents: ["other"] };
      const request = { agent: "assistant", input: { text: "hi" }, session: "conv_later", caller };
      await journal.enqueue({ run: "by-later", tenant: "ada", session: "conv_later", request });
      for await (const _ of runs.follow("by-later"));
      expect(await start("narrow", { session: "conv_later", agent: "other" })).to.have.property("status", "finished");
    });
  });
});
