import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { expect } from "chai";
import { testFolder } from "../host/folder.ts";
import { allSse } from "../sse.ts";
import { venturi } from "./venturi.ts";

const bin = new URL("../../src/cli/bin.js", import.meta.url).pathname;
const config = `
dataFolder: ./data
providers: { demo: { type: simulator, pace: 0 } }
tools: { calculator: { type: calculator } }
agents:
  assistant: { model: demo/small, tools: [calculator], description: knows numbers }
  slow: { model: demo/pace-50-2000 }
journal: { type: memory }
channels: { http: {}, openai: {} }
server: { listen: 0 }
limits: { drain: 300ms }
telemetry: { logs: { format: text } }
`;

/** A command that goes on until it is told to stop. */
class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  out = "";
  words = "";

  constructor(args: readonly string[]) {
    this.child = spawn(process.execPath, [bin, ...args], { env: { ...process.env, NO_COLOR: "1" } });
    this.child.stdout?.on("data", (bytes) => {
      this.out += bytes;
      this.child.emit("said");
    });
    this.child.stderr?.on("data", (bytes) => {
      this.words += bytes;
      this.child.emit("said");
    });
    this.ended = once(this.child, "close").then(([code]) => code as number | null);
  }

  async until(found: () => boolean): Promise<void> {
    while (!found()) {
      if (this.child.exitCode !== null) throw new Error(`ended too early: ${this.words}`);
      await Promise.race([once(this.child, "said"), this.ended]);
    }
  }
}

describe("the command line with a service behind it", function () {
  this.timeout(180_000);
  const folder = testFolder();
  const running: Running[] = [];
  afterEach(() => {
    for (const { child } of running.splice(0)) child.kill("SIGKILL");
  });
  const write = () => folder.write({ "venturi.yaml": config });
  const begin = (...args: string[]) => {
    const command = new Running(["--config", write(), ...args]);
    running.push(command);
    return command;
  };
  const listening = async () => {
    const service = begin("start");
    await service.until(() => service.words.includes("OpenAI clients:"));
    return { service, url: /listening on (http:\S+)/.exec(service.words)?.[1] ?? "" };
  };
  const follow = (url: string) =>
    fetch(`${url}/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: '{"agent":"slow","input":"go"}',
    });

  it("starts, tells what to do next in lines that work, reloads, and on SIGTERM gives every stream its terminal event and exits 0", async () => {
    const { service, url } = await listening();
    const curl = /(curl [\s\S]*?}')/.exec(service.words)?.[1] ?? "";
    const answer = spawn("sh", ["-c", curl]);
    let events = "";
    answer.stdout.on("data", (bytes) => {
      events += bytes;
    });
    await once(answer, "close");
    expect(events).to.include("event: run.finished").and.include("391");
    expect(existsSync(folder.path("data/venturi.pid"))).to.equal(true);
    service.child.kill("SIGHUP");
    await service.until(() => service.words.includes("config.reload"));
    const streams = await Promise.all(Array.from({ length: 5 }, () => follow(url)));
    service.child.kill("SIGTERM");
    const endings = await Promise.all(streams.map(async (stream) => (await allSse(stream)).at(-1)));
    for (const ending of endings) {
      expect(ending?.event).to.equal("run.failed");
      expect(JSON.parse(ending?.data ?? "")).to.have.nested.property("error.code", "shutting_down");
    }
    expect(await service.ended).to.equal(0);
    expect(existsSync(folder.path("data/venturi.pid"))).to.equal(false);
  });

  it("gives the service the young generation that many streams need, unless a size was chosen", async function () {
    if (process.platform !== "linux") this.skip();
    const optionsOfService = async () => {
      const { child } = (await listening()).service;
      const [pid] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ");
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      child.kill("SIGTERM");
      return words.filter((word) => word.includes("semi-space"));
    };
    expect(await optionsOfService()).to.deep.equal(["--max-semi-space-size=16", "--min-semi-space-size=8"]);
    const given = process.env.NODE_OPTIONS;
    process.env.NODE_OPTIONS = "--max-semi-space-size=4";
    try {
      expect(await optionsOfService()).to.deep.equal([]);
    } finally {
      if (given === undefined) delete process.env.NODE_OPTIONS;
      else process.env.NODE_OPTIONS = given;
    }
  });

  it("exits at once on a second signal", async () => {
    const { service, url } = await listening();
    const stream = await follow(url);
    service.child.kill("SIGTERM");
    await service.until(() => service.words.includes("draining"));
    service.child.kill("SIGTERM");
    expect(await service.ended).to.equal(143);
    await stream.text().catch(() => {});
  });

  for (const words of [
    ["run", "assistant", "What is 17 * 23?"],
    ["chat", "assistant"],
  ]) {
    it(`${words[0]}: the answer on stdout and nothing else, and in a pipe a plain line for each step of a call beside it`, async () => {
      const { exit, out, err } = await venturi(["--config", write(), ...words], {}, undefined, "What is 17 * 23?\n");
      expect(exit).to.equal(0);
      expect(out)
        .to.match(/391\.?\n$/)
        .and.not.to.include("called");
      expect(
        err
          .replaceAll(/call_\w+/g, "ID")
          .split("\n")
          .slice(0, 3),
      ).to.deep.equal([
        "calculator ID: called",
        'calculator ID: arguments {"expression":"17 * 23"}',
        "calculator ID: started",
      ]);
      expect(err.split("\n").slice(3).join("\n")).to.match(
        /^⚙ calculator .* → .*391.* \(\d+ ms\)\n[^\n]* · 2 rounds · [^\n]*\n$/,
      );
    });
  }

  it("run --quiet: the answer and nothing else", async () => {
    const { out, err } = await venturi(["--config", write(), "run", "-q", "assistant", "What is 17 * 23?"]);
    expect([/391\.?\n$/.test(out), err]).to.deep.equal([true, ""]);
  });

  it("runs with --json as one event a line", async () => {
    const { out } = await venturi(["--config", write(), "run", "assistant", "hello", "--json"]);
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; seq: number });
    expect(events.map((event) => event.seq)).to.deep.equal(events.map((_, index) => index + 1));
    expect(events.at(-1)?.type).to.equal("run.finished");
  });

  it("cancels the run and not the shell on Ctrl-C", async () => {
    const run = begin("run", "slow", "go", "--json");
    await run.until(() => run.out.includes("text.delta"));
    run.child.kill("SIGINT");
    expect(await run.ended).to.equal(130);
    expect(run.out).to.match(/"type":"run.failed".*"stream_interrupted".*\n$/);
  });

  it("says what is wrong in words, with the code's exit status", async () => {
    const { exit, out, err } = await venturi(["--config", write(), "run", "nobody", "hi"]);
    expect([exit, out]).to.deep.equal([1, ""]);
    expect(err).to.include('there is no agent "nobody"; the agents are: assistant, slow');
  });

  it("chats over several lines in one session", async () => {
    const chat = begin("chat", "assistant");
    chat.child.stdin?.end("My name is Ada.\n/help\n/agents\nWhat is my name?\n/exit\n");
    expect(await chat.ended).to.equal(0);
    expect(chat.out).to.include("Ada");
    expect(chat.words).to.include("/new").and.include("knows numbers");
  });

  it("finds what would keep the service from working", async () => {
    const { exit, out } = await venturi(["--config", write(), "doctor", "--json"]);
    const found = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { what: string; status: string });
    expect(exit).to.equal(0);
    expect(found.map((finding) => finding.what)).to.include.members([
      "node",
      "config",
      "disk",
      "journal",
      "provider demo",
    ]);
    const broken = folder.write({
      "venturi.yaml": `${config}\n`.replace(
        "type: simulator, pace: 0",
        'type: openai, apiKey: "hush", baseUrl: "http://127.0.0.1:9/v1"',
      ),
    });
    const bad = await venturi(["--config", broken, "doctor"]);
    expect(bad.exit).to.equal(1);
    expect(bad.out)
      .to.match(/✗ provider demo +127\.0\.0\.1:9 cannot be reached/)
      .and.not.include("hush");
    const url = "postgres://venturi:hush@127.0.0.1:9,127.0.0.1:10/journal";
    const down = ["--set", "journal.type=postgres", "--set", `journal.url=${url}`];
    const without = await venturi(["--config", write(), ...down, "doctor"]);
    expect(without.exit).to.equal(1);
    expect(without.out)
      .to.match(/✗ journal +127\.0\.0\.1:9 cannot be reached, 127\.0\.0\.1:10 cannot be reached/)
      .and.not.include("hush");
  });

  it("doctor says which servers of a NATS journal answer, and that nobody looks whether they sync", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo; // listens on TCP
    const servers = ["nats://u:hush@127.0.0.1:9", `127.0.0.1:${port}`];
    const nats = ["--set", "journal.type=nats", "--set", `journal.servers=${JSON.stringify(servers)}`];
    const checked = await venturi(["--config", write(), ...nats, "doctor"]);
    expect(checked.exit).to.equal(0);
    expect(checked.out).to.match(
      new RegExp(`✔ journal +127\\.0\\.0\\.1:9 cannot be reached, 127\\.0\\.0\\.1:${port} answers\n`),
    );
    const unchecked = await venturi(["--config", write(), ...nats, "--set", "journal.durability=unchecked", "doctor"]);
    expect(unchecked.out).to.include("durability: unchecked").and.not.include("hush");
    server.close();
  });

  it("completes commands and agents in the shell", async () => {
    const { out } = await venturi(["completion", "bash"]);
    const script = `${out}\nCOMP_WORDS=(venturi do); COMP_CWORD=1; _venturi; echo "\${COMPREPLY[@]}"`;
    const shell = spawn("bash", ["-c", script]);
    const [said] = (await once(shell.stdout, "data")) as [Buffer];
    expect(String(said).trim()).to.equal("doctor");
    expect((await venturi(["--config", write(), "completion", "agents"])).out).to.equal("assistant\nslow\n");
  });
});
