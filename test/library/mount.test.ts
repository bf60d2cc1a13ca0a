import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { agent, type Venturi } from "venturi";
import { type Generation, say } from "../../src/testing/model.ts";
import { scripted } from "./scripted.ts";

const plain = agent({ name: "plain", model: "scripted/m" });
const until = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
};

describe("the service mounted in another program", () => {
  let venturi: Venturi;
  let server: Server | undefined;
  afterEach(async () => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
    await venturi.close();
  });
  const open = async (script: readonly Generation[], app: object = {}) => {
    const opened = await scripted(script, { agents: [plain], ...app });
    venturi = opened.venturi;
    return opened;
  };
  const chat = (more: RequestInit = {}) =>
    new Request("http://localhost/openai/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "plain", stream: true, messages: [{ role: "user", content: "go" }] }),
      ...more,
    });
  const states = async () => (await venturi.runs.list({})).runs.map(({ state, outcome }) => `${state} ${outcome}`);

  it("streams as it comes, and nothing of HTTP's framing is in the body", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await open([["one ", say.until(() => held), "two"]]);
    const response = await venturi.fetch(chat());
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes("one ")) text += new TextDecoder().decode((await reader.read()).value);
    expect(text).not.to.contain("two");
    release();
    for (let step = await reader.read(); !step.done; step = await reader.read())
      text += new TextDecoder().decode(step.value);
    expect(text)
      .to.match(/^data: \{/)
      .and.to.match(/data: \[DONE\]\n\n$/);
    expect(text.split("\n").every((line) => line === "" || line.startsWith("data: "))).to.equal(true);
    expect([response.headers.get("transfer-encoding"), response.headers.get("connection")]).to.deep.equal([null, null]);
  });

  it("a reader that leaves cancels the run where the channel says so, by its signal or by its stream", async () => {
    await open([
      ["one ", say.silence()],
      ["one ", say.silence()],
    ]);
    const left = new AbortController();
    const cut = await venturi.fetch(chat({ signal: left.signal }));
    await cut.body?.getReader().read();
    left.abort();
    await until(async () => (await states()).join() === "done cancelled");
    const dropped = await venturi.fetch(chat());
    const reader = dropped.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await until(async () => (await states()).join() === "done cancelled,done cancelled");
  });

  it("a reader that begins late gets everything", async () => {
    const piece = "x".repeat(64 * 1024);
    await open([Array.from({ length: 64 }, () => piece)]);
    const response = await venturi.fetch(chat());
    await until(async () => (await states()).join() === "done finished");
    expect((await response.text()).length).to.be.greaterThan(64 * 64 * 1024);
  });

  it("without a caller or auth only this machine is served; a caller sees its own runs, and its context goes with them", async () => {
    await open([["hi"]]);
    const outside = new Request("http://shop.example/v1/agents");
    expect((await venturi.fetch(outside)).status).to.equal(403);
    await venturi.close();
    await open([["hi"]], {
      caller: (request: Request) => ({ id: request.headers.get("x-user") ?? "", metadata: { from: "web" } }),
    });
    expect((await venturi.fetch(outside)).status).to.equal(200);
    const done = await venturi.fetch(chat({ headers: { "content-type": "application/json", "x-user": "ada" } }));
    await done.text();
    const { runs } = await venturi.runs.list({});
    expect([runs[0]?.tenant, runs[0]?.request.metadata]).to.deep.equal(["ada", { from: "web" }]);
    const elsewhere = await venturi.at("/ai").fetch(new Request("http://a.example/v1/agents"));
    expect(elsewhere.status).to.equal(404);
    expect(await elsewhere.json()).to.have.nested.property("error.code", "not_found");
    expect((await venturi.at("/ai").fetch(new Request("http://a.example/ai/v1/agents"))).status).to.equal(200);
  });

  it("a body that was read before is an error that says so, not a request that hangs", async () => {
    await open([["hi"]]);
    server = createServer((request, response) => {
      request.resume().on("end", () => setImmediate(() => venturi.node(request, response)));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server?.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/v1/runs`, { method: "POST", body: "{}" });
    const { error } = (await answer.json()) as { error: { code: string; err: string } };
    expect([answer.status, error.code]).to.deep.equal([500, "internal"]);
    expect(error.err).to.contain("before anything that parses bodies");
  });

  it("responses resume after Last-Event-ID, and a failed text breaks off instead of looking whole", async () => {
    await open([["one"], ["part", say.fail("llm_error", "broke")]]);
    const run = await venturi.start(plain, "go");
    await run.result();
    const request = new Request("http://localhost/", { headers: { "last-event-id": "3" } });
    expect(await run.response({ request }).text()).to.match(/^id: 4\n/);
    expect(await run.response({ as: "text" }).text()).to.equal("one");
    const failed = await venturi.start(plain, "go");
    const broken = await failed
      .response({ as: "text" })
      .text()
      .catch((thrown: unknown) => thrown);
    expect(broken).to.have.property("code", "llm_error");
    for (const as of ["ai-sdk", "openai", "ag-ui"] as const) {
      expect(await failed.response({ as }).text(), as).to.contain("broke");
    }
  });
});
