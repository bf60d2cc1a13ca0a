import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";

const bin = new URL("../../src/cli/bin.js", import.meta.url).pathname;

describe("venturi simulate", () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  function start(...flags: string[]) {
    const child = spawn(process.execPath, [bin, "simulate", ...flags], { stdio: ["ignore", "pipe", "pipe"] });
    children.push(child);
    let words = "";
    child.stderr.on("data", (bytes) => {
      words += bytes;
    });
    return { child, words: () => words };
  }

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it(`prints where it listens on stdout, words on stderr, and ends well on ${signal} even with a stalled client`, async () => {
      const { child, words } = start("--port", "0", "--pace", "0");
      const [line] = await once(child.stdout, "data");
      const url = String(line).trim();
      expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
      const body = JSON.stringify({ model: "echo!stall@2", stream: true, messages: [{ role: "user", content: "hi" }] });
      const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", body });
      expect(answer.status).to.equal(200);
      const exited = once(child, "exit");
      child.kill(signal);
      expect((await exited)[0]).to.equal(0);
      expect(words()).to.contain(`curl -N ${url}/v1/chat/completions`);
    });
  }

  it("ends with usage status on a fault that does not exist and with config status on a missing scenario", async () => {
    const wrong = start("--port", "0", "--fault", "explode");
    expect((await once(wrong.child, "exit"))[0]).to.equal(2);
    expect(wrong.words()).to.contain('"explode" is no fault');
    const missing = start("--port", "0", "--scenario", "nowhere.yaml");
    expect((await once(missing.child, "exit"))[0]).to.equal(78);
    expect(missing.words()).to.contain("nowhere.yaml");
  });

  it("says so when the port is taken", async () => {
    const { child } = start("--port", "0");
    const [line] = await once(child.stdout, "data");
    const { port } = new URL(String(line).trim());
    const second = start("--port", port);
    expect((await once(second.child, "exit"))[0]).to.equal(1);
    expect(second.words()).to.contain(`cannot listen on 127.0.0.1:${port}`);
  });
});
