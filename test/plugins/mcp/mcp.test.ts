import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import mcp from "../../../plugins/mcp/index.ts";
import type { Log } from "../../../src/core/ports/log.ts";
import { RichOutput, type ToolContext, type ToolSource } from "../../../src/core/ports/tool.ts";
import { callTool, testPluginContext, toolContract, toolNamed } from "../../../src/testing.ts";

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const misbehaving = fileURLToPath(new URL("./server.js", import.meta.url));
type Source = ToolSource & { close(): Promise<void> };

class Events implements Log {
  readonly lines: string[] = [];
  #wake: (() => void)[] = [];
  readonly debug = () => {};
  readonly info = (message: string) => this.#add(message);
  readonly warn = (message: string, fields = {}) => this.#add(`${message} ${JSON.stringify(fields)}`);
  readonly error = (message: string) => this.#add(message);

  async until(pattern: RegExp, times = 1): Promise<void> {
    while (this.lines.filter((line) => pattern.test(line)).length < times) {
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  #add(line: string): void {
    this.lines.push(line);
    for (const wake of this.#wake.splice(0)) wake();
  }
}

const open = async (options: Record<string, unknown>, log: Log = new Events()) =>
  (await mcp.create(mcp.options.parse(options), testPluginContext({ name: "remote", log }))) as Source;
const overStdio = (given = {}, log?: Log) =>
  open({ command: process.execPath, args: [everything, "stdio"], ...given }, log);
const call = async (source: Source, name: string, input = {}, context: Partial<ToolContext> = {}) =>
  await callTool(toolNamed(source, `remote_${name}`), input, context);
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );

toolContract("mcp (server-everything over stdio)", {
  create: () => overStdio({ tools: ["echo", "get-sum", "trigger-long-running-operation"] }),
  samples: [
    { tool: "remote_echo", input: { message: "hello" } },
    { tool: "remote_get-sum", input: { a: 2, b: 3 } },
    { tool: "remote_trigger-long-running-operation", input: { duration: 0.05, steps: 2 } },
  ],
  misfits: [{ tool: "remote_get-sum", input: { a: "two" } }],
  endless: { tool: "remote_trigger-long-running-operation", input: { duration: 60, steps: 2 } },
});

const transports: Readonly<Record<string, (given?: object) => Promise<Source>>> = {
  stdio: (given) => overStdio(given),
  "streamable HTTP": async (given) => {
    const server = await startHttp();
    const source = await open({ url: `http://127.0.0.1:${server.port}/mcp`, ...given });
    return {
      list: () => source.list(),
      close: async () => {
        await source.close();
        await server.stop();
      },
    };
  },
};

for (const [transport, connect] of Object.entries(transports)) {
  describe(`mcp: server-everything over ${transport}`, () => {
    let source: Source;
    before(async () => {
      source = await connect();
    });
    after(() => source.close());

    it("offers the server's tools with the effects its hints declare", () => {
      const effects = Object.fromEntries(source.list().map((tool) => [tool.name, tool.effect]));
      expect(effects).to.include({ remote_echo: "pure", "remote_get-sum": "pure" });
      expect(effects).not.to.have.property("remote_simulate-research-query");
      expect(source.list().length).to.be.above(8);
    });

    it("calls a tool and tells its text", async () => {
      expect((await call(source, "echo", { message: "grüße" })).output).to.equal("Echo: grüße");
      expect((await call(source, "get-sum", { a: 2, b: 40 })).output).to.contain("42");
    });

    it("says for a trace which server it asks and how", () => {
      const told = toolNamed(source, "remote_echo").spanAttributes?.() ?? {};
      expect(told).to.include({ "mcp.method.name": "tools/call" });
      expect(told["mcp.protocol.version"]).to.match(/^\d{4}-\d\d-\d\d$/);
      if (transport === "stdio") expect(told).to.include({ "network.transport": "pipe" });
      else {
        expect(told).to.include({ "network.transport": "tcp", "server.address": "127.0.0.1" });
        expect(told["server.port"]).to.be.a("number").above(0);
        expect(told["mcp.session.id"]).to.be.a("string").and.not.equal("");
      }
    });

    it("hands images over beside the text", async () => {
      const { output } = await call(source, "get-tiny-image");
      expect(output).to.be.instanceOf(RichOutput);
      const [image] = (output as RichOutput).images;
      expect(image?.mediaType).to.equal("image/png");
      expect(
        Buffer.from(image?.data ?? "", "base64")
          .subarray(1, 4)
          .toString(),
      ).to.equal("PNG");
    });

    it("passes progress on as it comes", async () => {
      const { output, progress } = await call(source, "trigger-long-running-operation", { duration: 0.3, steps: 3 });
      expect(output).to.contain("completed");
      // The SDK drops a notification that arrives in one read with the answer, so the last step may be missing.
      expect(progress.slice(0, 2)).to.deep.equal(["1/3", "2/3"]);
    });

    it("settles when cancelled, and the server still answers", async () => {
      const controller = new AbortController();
      const progress = () => controller.abort(new Error("enough"));
      const input = { duration: 600, steps: 6_000 };
      const thrown = await failureOf(
        call(source, "trigger-long-running-operation", input, { signal: controller.signal, progress }),
      );
      expect(thrown.code).to.equal("stream_interrupted");
      expect((await call(source, "echo", { message: "still here" })).output).to.equal("Echo: still here");
    });

    it("20 calls at once get each its own answer", async () => {
      const answers = Array.from({ length: 20 }, (_, n) => call(source, "echo", { message: String(n) }));
      const outputs = (await Promise.all(answers)).map((answer) => answer.output);
      expect(outputs).to.deep.equal(Array.from({ length: 20 }, (_, n) => `Echo: ${n}`));
    });

    it("tells a failure of the tool as one", async () => {
      const thrown = await failureOf(call(source, "get-resource-reference", { resourceType: "Text", resourceId: -1 }));
      expect(thrown.code).to.equal("tool_failed");
    });
  });
}

describe("mcp", () => {
  let folder: string;
  let diary: string;
  const sources: Source[] = [];
  const connect = async (log: Log, given = {}) => {
    const options = { command: process.execPath, args: [misbehaving, diary], backoff: { first: "20ms" }, ...given };
    const source = await open(options, log);
    sources.push(source);
    return source;
  };
  const diaryLines = () => readFileSync(diary, "utf8").trim().split("\n");

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "venturi-mcp-"));
    diary = join(folder, "diary");
  });
  afterEach(async () => {
    for (const source of sources.splice(0)) await source.close();
    rmSync(folder, { recursive: true });
  });

  it("sends the trace context along in _meta", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const { output } = await call(await connect(new Events()), "meta", {}, { traceparent });
    expect(JSON.parse(String(output))).to.include({ traceparent });
  });

  it("forwards a cancellation to the server", async () => {
    const source = await connect(new Events());
    const controller = new AbortController();
    const progress = () => controller.abort(new Error("enough"));
    const thrown = await failureOf(call(source, "hang", {}, { signal: controller.signal, progress }));
    expect(thrown.code).to.equal("stream_interrupted");
    await call(source, "meta"); // a round trip later the notification has been handled
    expect(
      diaryLines()
        .filter((line) => line !== "listed")
        .slice(1),
    ).to.deep.equal(["hanging", "cancelled"]);
  });

  it("sees a tool that the server adds", async () => {
    const source = await connect(new Events());
    const changed = new Promise<void>((resolve) => source.onChange?.(resolve));
    expect((await call(source, "grow", { name: "fresh" })).output).to.equal("grown");
    await changed;
    expect((await call(source, "fresh")).output).to.equal("new");
    expect(toolNamed(source, "remote_grow").effect).to.equal("idempotent");
    expect(toolNamed(source, "remote_fresh").effect).to.equal("effectful");
  });

  it("a storm of changes causes only a few listings", async () => {
    const source = await connect(new Events());
    await call(source, "storm");
    await call(source, "meta");
    expect(diaryLines().filter((line) => line === "listed").length).to.be.within(2, 100); // of 2000
  });

  it("a tool whose description changes needs approval from then on", async () => {
    const log = new Events();
    const source = await connect(log);
    expect(toolNamed(source, "remote_pay").approval).to.equal(undefined);
    const changed = new Promise<void>((resolve) => source.onChange?.(resolve));
    await call(source, "twist");
    await changed;
    expect(toolNamed(source, "remote_pay").approval).to.equal("always");
    expect(toolNamed(source, "remote_meta").approval).to.equal(undefined);
    expect(log.lines.join()).to.include("need a person's approval");
  });

  describe("pinned", () => {
    const other = `sha256:${"0".repeat(64)}`;
    const pinOf = async (options = {}) => {
      const thrown = await failureOf(connect(new Events(), { pin: other, ...options }));
      expect(thrown.code).to.equal("config_invalid");
      return String(/sha256:[0-9a-f]{64}/.exec(thrown.message));
    };

    it("another list is an error at the start that tells its hash, and that hash is taken", async () => {
      const pin = await pinOf();
      expect(await pinOf({ optional: true })).to.equal(pin);
      expect(await pinOf({ tools: ["pay"] })).not.to.equal(pin);
      const source = await connect(new Events(), { pin });
      expect(source.list().map(({ name }) => name)).to.include("remote_pay");
    });

    it("what the server changes later is left aside, and the log says so", async () => {
      const pin = await pinOf();
      const log = new Events();
      const source = await connect(log, { pin });
      await call(source, "twist");
      await log.until(/not the pinned ones/);
      expect(toolNamed(source, "remote_pay").description).to.equal("Pays a bill");
      await call(source, "grow", { name: "fresh" });
      await log.until(/not the pinned ones/, 2);
      expect(source.list().map(({ name }) => name)).not.to.include("remote_fresh");
    });

    it("a server that comes back with other tools is used with the pinned ones", async () => {
      const log = new Events();
      const source = await connect(log, { pin: await pinOf() });
      await failureOf(call(source, "crash"));
      await log.until(/is back/);
      expect(toolNamed(source, "remote_pay").description).to.equal("Pays a bill");
    });
  });

  it("the config may set the prefix of the names", async () => {
    const source = await connect(new Events(), { prefix: "bank-" });
    expect(source.list().map(({ name }) => name)).to.include("bank-pay");
    const bare = await connect(new Events(), { prefix: "" });
    expect(bare.list().map(({ name }) => name)).to.include("pay");
    expect(mcp.options.safeParse({ command: "x", prefix: "a b" }).success).to.equal(false);
  });

  it("effects of the config win over the server's hints", async () => {
    const source = await connect(new Events(), { effects: { hang: "effectful", meta: "pure" } });
    expect([toolNamed(source, "remote_hang").effect, toolNamed(source, "remote_meta").effect]).to.deep.equal([
      "effectful",
      "pure",
    ]);
  });

  it("an error result of a tool is a tool_failed with the server's text", async () => {
    const thrown = await failureOf(call(await connect(new Events()), "fail"));
    expect([thrown.code, thrown.message]).to.deep.equal(["tool_failed", "that went wrong"]);
  });

  it("a server that crashes during a call is reported, restarted, and answers the next call", async () => {
    const log = new Events();
    const source = await connect(log);
    for (let crash = 1; crash <= 3; crash++) {
      const thrown = await failureOf(call(source, "crash"));
      expect(thrown.code).to.equal("unavailable");
      const { output } = await call(source, "meta"); // waits for the new process
      expect(output).to.be.a("string");
      await log.until(/is back/, crash);
    }
    expect(log.lines.filter((line) => /exited; restarting it.*"restartInMs":20/.test(line))).to.have.length(3);
    expect(new Set(diaryLines().filter((line) => line !== "listed")).size).to.equal(4);
  });

  it("a server killed between two calls is restarted without being asked", async () => {
    const log = new Events();
    const source = await connect(log);
    process.kill(Number(diaryLines()[0]?.split(" ")[1]), "SIGKILL");
    await log.until(/is back/);
    expect((await call(source, "meta")).output).to.be.a("string");
  });

  it("a server that cannot be started is an error, or with `optional` is tried again with growing pauses", async () => {
    const thrown = await failureOf(open({ command: join(folder, "nothing") }));
    expect(thrown.code).to.equal("unavailable");
    const log = new Events();
    const source = await open(
      { command: join(folder, "nothing"), optional: true, backoff: { first: "5ms", most: "20ms" } },
      log,
    );
    await log.until(/restarting it/, 4);
    await source.close();
    const pauses = log.lines.slice(0, 4).map((line) => /"restartInMs":(\d+)/.exec(line)?.[1]);
    expect(pauses).to.deep.equal(["5", "10", "20", "20"]);
  });

  it("an HTTP server that goes away and comes back at its address is found again", async () => {
    const log = new Events();
    const server = await startHttp();
    const source = await open(
      { url: `http://127.0.0.1:${server.port}/mcp`, connectTimeout: "60s", backoff: { first: "50ms", most: "200ms" } },
      log,
    );
    sources.push(source);
    await server.stop();
    // It fails, or waits for the server if the loss was noticed before.
    const first = call(source, "echo", { message: "anyone?" }).catch(() => {});
    await log.until(/exited; restarting it/);
    const again = await startHttp(server.port);
    await log.until(/is back/);
    await first;
    expect((await call(source, "echo", { message: "again" })).output).to.equal("Echo: again");
    await source.close();
    await again.stop();
  });

  it("the server gets only the variables the config names, and their values never come back", async () => {
    process.env.VENTURI_TEST_TOKEN = "token-of-the-service";
    process.env.VENTURI_TEST_OTHER = "other-of-the-service";
    const source = await overStdio({ env: { API_KEY: "key-from-config" }, passEnv: ["VENTURI_TEST_TOKEN"] });
    const { output } = await call(source, "get-env");
    await source.close();
    delete process.env.VENTURI_TEST_TOKEN;
    delete process.env.VENTURI_TEST_OTHER;
    const seen = JSON.parse(String(output));
    expect(seen).to.include({ API_KEY: "[API_KEY]", VENTURI_TEST_TOKEN: "[VENTURI_TEST_TOKEN]" });
    expect(seen).not.to.have.property("VENTURI_TEST_OTHER");
  });

  it("takes either a command or a url", () => {
    expect(mcp.options.safeParse({}).success).to.equal(false);
    expect(mcp.options.safeParse({ command: "x", url: "http://x" }).success).to.equal(false);
  });
});

async function startHttp(wanted?: number): Promise<{ port: number; stop(): Promise<void> }> {
  const port = wanted ?? (await freePort());
  const child: ChildProcess = spawn(process.execPath, [everything, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const listening = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        if (String(chunk).includes("listening")) resolve();
      });
    }
  });
  await Promise.race([listening, once(child, "exit").then(() => Promise.reject(new Error("the server ended")))]);
  return {
    port,
    async stop() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}
