import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const folder = fileURLToPath(new URL("../../../examples/library/", import.meta.url));

describe("the example programs", function () {
  this.timeout(180_000);
  let home = "";
  const children = new Set<ChildProcess>();
  before(() => {
    home = mkdtempSync(join(tmpdir(), "venturi-programs-"));
  });
  afterEach(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
    children.clear();
  });
  after(() => rmSync(home, { recursive: true }));

  function start(file: string, { words = [], journal = file }: { words?: string[]; journal?: string } = {}) {
    const env = { ...process.env, PORT: "0", JOURNAL: join(home, `${journal}.db`) };
    const child = spawn(process.execPath, ["--no-warnings", `${folder}${file}.ts`, ...words], { env });
    children.add(child);
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk.toString();
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const line = async (): Promise<string> => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${file} ended: ${err}`);
      return value as string;
    };
    const rest = async (): Promise<string> => {
      let text = "";
      for (let step = await lines.next(); !step.done; step = await lines.next()) text += `${step.value}\n`;
      return text;
    };
    return { child, line, rest, said: () => err };
  }

  for (const file of ["node-http", "express", "fastify", "hono", "next-route"]) {
    it(`${file}.ts streams from its own route and serves the mounted service to those it knows`, async () => {
      const { line } = start(file);
      const { port } = JSON.parse(await line()) as { port: number };
      const url = `http://127.0.0.1:${port}`;
      const user = { "x-user": "ada" };
      const type = { "content-type": "text/plain" };
      const body = "Look up the order A-17";
      const chat = await fetch(`${url}/chat`, { method: "POST", headers: { ...user, ...type }, body });
      expect([chat.status, chat.headers.get("content-type")]).to.deep.equal([200, "text/plain; charset=utf-8"]);
      expect(await chat.text()).to.contain("kettle");
      expect((await fetch(`${url}/ai/v1/agents`)).status).to.equal(401);
      const json = { "content-type": "application/json", ...user };
      const request = { agent: "support", input: "Look up the order B-4" };
      const started = await fetch(`${url}/ai/v1/runs`, {
        method: "POST",
        headers: { ...json, accept: "text/event-stream" },
        body: JSON.stringify(request),
      });
      const events = await started.text();
      expect(events).to.match(/^id: 1\nevent: run\.started\n/);
      expect(events).to.contain("delivered").and.to.contain("event: run.finished");
      expect(events).not.to.match(/^[0-9a-f]+\r$/m); // no chunk lengths in the body
      const run = started.headers.get("x-venturi-run");
      const resumed = await fetch(`${url}/ai/v1/runs/${run}/events`, { headers: { ...user, "last-event-id": "2" } });
      expect(await resumed.text()).to.match(/^id: 3\n/);
      const stranger = await fetch(`${url}/ai/v1/runs/${run}`, { headers: { "x-user": "eve" } });
      expect(stranger.status).to.equal(404);
    });
  }

  it("cli.ts streams the answer and asks at the terminal", async () => {
    const looked = start("cli", { words: ["Look up the order A-17"] });
    expect(await looked.rest(), looked.said()).to.contain("kettle");
    const asked = start("cli", { words: ["Please refund 250"] });
    asked.child.stdin?.end("y\n");
    expect(await asked.rest(), asked.said()).to.contain("250");
    expect(asked.said()).to.contain('refund {"amount":250}: a refund of 250 [y/N]');
  });

  it("worker.ts finishes a run whose process was killed while it waited for approval", async () => {
    const { child, line } = start("node-http", { journal: "shared" });
    const { port } = JSON.parse(await line()) as { port: number };
    const headers = { "content-type": "application/json", "x-user": "ada" };
    const url = `http://127.0.0.1:${port}/ai/v1/runs`;
    const started = await fetch(url, {
      method: "POST",
      headers: { ...headers, accept: "text/event-stream" },
      body: JSON.stringify({ agent: "support", input: "Please refund 250" }),
    });
    const run = started.headers.get("x-venturi-run");
    let call: string | undefined;
    for await (const chunk of started.body ?? []) {
      call ??= /event: approval\.requested\ndata: .*?"call":"([^"]+)"/.exec(Buffer.from(chunk).toString())?.[1];
      if (call !== undefined) break;
    }
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    const worker = start("worker", { journal: "shared" });
    expect(await worker.line()).to.equal("working");
    const again = start("node-http", { journal: "shared" });
    const { port: second } = JSON.parse(await again.line()) as { port: number };
    const answered = await fetch(`http://127.0.0.1:${second}/ai/v1/runs/${run}/approvals/${call}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ approved: true, arguments: { amount: 90 } }),
    });
    expect(answered.status, await answered.clone().text()).to.equal(202);
    const events = await fetch(`http://127.0.0.1:${second}/ai/v1/runs/${run}/events`, { headers });
    const text = await events.text();
    expect(text).to.contain('"arguments":{"amount":90}').and.to.contain('\\"paid\\":90,\\"to\\":\\"ada\\"');
    expect(text).to.contain("event: run.finished");
  });
});
