import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { testFolder } from "../../host/folder.ts";
import { callsIn, choose, configuration, Editor, openCalls, pay, textOf } from "./editor.ts";

describe("an editor's processes", function () {
  this.timeout(180_000);
  const folder = testFolder();
  const files = (more: Record<string, unknown> = {}) =>
    folder.write({ "venturi.yaml": configuration(more), "pay.mjs": pay, "work/x": "" });

  it("kill -9 in the middle of a prompt: the session is loaded, and its run goes on to its end", async () => {
    const config = files();
    const first = new Editor(["slow", "--config", config]);
    const session = await first.open();
    const begun = new Promise<void>((resolve) => {
      first.onUpdate = () => textOf(first.updates).includes("three") && resolve();
    });
    const lost = first.prompt(session).catch((thrown: unknown) => thrown);
    await begun;
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    expect(await lost).to.be.instanceOf(Error);

    const glance = new Editor(["--config", config]);
    await glance.open();
    await glance.load(session);
    expect(await glance.close()).to.equal(0); // it only looked: the run goes on

    const second = new Editor(["--config", config]);
    try {
      await second.open();
      const loaded = await second.load(session);
      expect(textOf(loaded, "user_message_chunk")).to.equal("go");
      expect(textOf(loaded)).to.match(/^one two/);
      while (!textOf(second.updates).endsWith("nine ten")) await sleep(50);
      expect(textOf(second.updates)).not.to.contain("stream_interrupted");
      expect(openCalls(second.updates)).to.deep.equal([]);
      expect((await second.prompt(session)).stop).to.equal("end_turn");
    } finally {
      await second.close();
    }
  });

  it("kill -9 while a person is asked: the question is asked again after the session is loaded", async () => {
    const config = files();
    const first = new Editor(["payer", "--config", config]);
    const session = await first.open();
    const asked = new Promise<void>((resolve) => {
      first.permit = () => {
        resolve();
        return new Promise(() => {});
      };
    });
    first.prompt(session).catch(() => {}); // it dies
    await asked;
    first.child.kill("SIGKILL");
    await once(first.child, "exit");

    const second = new Editor(["--config", config]);
    try {
      second.permit = () => choose("allow");
      await second.open();
      await second.load(session);
      while (!textOf(second.updates).includes("paid 10")) await sleep(50);
      expect(second.asked).to.have.length(1);
      expect(callsIn(second.updates).map(({ status }) => status)).to.deep.equal(["completed"]);
    } finally {
      await second.close();
    }
  });

  it("an editor that closes the pipe in the middle of a prompt ends the run and the program", async () => {
    const config = files();
    const first = new Editor(["slow", "--config", config]);
    const session = await first.open();
    const begun = new Promise<void>((resolve) => {
      first.onUpdate = () => resolve();
    });
    first.prompt(session).catch(() => {}); // nobody waits for it
    await begun;
    expect(await first.close()).to.equal(0);
    const second = new Editor(["--config", config]);
    await second.open();
    expect(textOf(await second.load(session))).to.contain("stream_interrupted");
    await second.close();
  });

  it("lines that are no messages are answered, and the next one is served", async () => {
    const editor = new Editor(["--config", files({ journal: { type: "memory" } })]);
    const lines = [
      "not json",
      "[]",
      "7",
      "null",
      '{"jsonrpc":"2.0"}',
      '{"jsonrpc":"1.0","id":1,"method":"initialize"}',
      '{"jsonrpc":"2.0","id":{},"method":"initialize","params":{}}',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":"x","method":"session/new","params":{"cwd":"/","mcpServers":[]}}',
      `{"jsonrpc":"2.0","id":2,"method":"initialize","params":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
      '{"jsonrpc":"2.0","method":"session/cancel","params":null}',
      `{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"${"9".repeat(100_000)}"}}`,
      '\u0000\u0001{"jsonrpc"',
      '{"jsonrpc":"2.0","id":4,"method":"__proto__","params":{"__proto__":{"x":1}}}',
    ];
    // Awaited: the library's stream loses what it writes while this one has to drain.
    for (const line of lines) await new Promise((done) => editor.child.stdin?.write(`${line}\n`, done));
    const session = await editor.open();
    expect((await editor.prompt(session)).stop).to.equal("end_turn");
    expect(await editor.close()).to.equal(0);
  });

  it("a client with forms is asked open questions in one", async () => {
    const editor = new Editor(["asker", "--config", files({ journal: { type: "memory" } })], {
      elicitation: { form: {} },
    });
    editor.fill = () => ({ action: "accept", content: { answer: "Ann" } });
    const { updates } = await editor.prompt(await editor.open());
    expect(textOf(updates)).to.contain("Ann");
    editor.fill = () => ({ action: "decline" });
    expect(textOf((await editor.prompt(await editor.session())).updates)).to.contain("There is no answer");
    await editor.close();
  });
});
