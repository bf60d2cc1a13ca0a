import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { expect } from "chai";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { testFolder } from "../../host/folder.ts";

const yaml = (listen: string, more = "") => `
providers: { demo: { type: simulator, pace: 0 } }
agents: { one: { model: demo/small } }
channels: { http: {} }
limits: { drain: 100ms }
journal: { type: sqlite, path: runs.db${more} }
server: { listen: "${listen}" }
`;

const start = (url: string, input: string) =>
  fetch(`${url}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({ agent: "one", input }),
  });
const readyz = async (url: string) => (await fetch(`${url}/readyz`)).status;

/** A single probe does not wait long for a slow disk. */
async function ready(url: string): Promise<void> {
  while ((await readyz(url).catch(() => 0)) !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Starts runs until they are refused, and returns with which status; once is not enough, since a checkpoint may make room. */
async function fill(url: string): Promise<number> {
  for (let runs = 0, refused = 0; runs < 400; runs++) {
    const { status, body } = await start(url, "x".repeat(60_000));
    await body?.cancel();
    refused = status >= 400 ? refused + 1 : 0;
    if (refused === 10) return status;
  }
  return 0;
}

describe("a service whose journal is full", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let service: Service | undefined;
  let child: ChildProcess | undefined;
  afterEach(async () => {
    await service?.drain();
    service = undefined;
    if (child === undefined) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
    child = undefined;
  });

  it("is not ready, says so once in the log, and is ready again when there is room", async () => {
    const errors: string[] = [];
    const infos: string[] = [];
    const log = {
      debug: () => {},
      info: (message: string) => void infos.push(message),
      warn: () => {},
      error: (message: string) => void errors.push(message),
    };
    const counted: string[] = [];
    const telemetry = {
      ...noTelemetry,
      count: (name: string, { operation = "" }: Readonly<Record<string, string>>) =>
        void counted.push(`${name} ${operation}`),
    };
    writeFileSync(folder.path("venturi.yaml"), yaml("127.0.0.1:0", ", maxSize: 3MiB"));
    service = await openService({ configFile: folder.path("venturi.yaml"), log, telemetry });
    const { url, host } = service;
    await ready(url);
    expect(await fill(url)).to.equal(503);
    for (let probe = 0; probe < 3; probe++) expect(await readyz(url)).to.equal(503);
    expect(errors.filter((message) => message === "the journal takes no writes; not ready")).to.have.length(1);
    expect(counted).to.include("venturi.journal.write.failures enqueue");
    expect(await host.journal.prune({ olderThan: 0 })).to.be.above(0);
    await ready(url);
    expect(infos).to.include("the journal takes writes again");
    expect((await start(url, "hello")).status).to.be.below(300);
  });

  it("is not ready where the system refuses to write more, and is again without a restart", async function () {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as { port: number };
    listener.close();
    await once(listener, "close");
    writeFileSync(folder.path("limited.yaml"), yaml(`127.0.0.1:${port}`));
    // Of a file, in blocks of 512 bytes; a soft limit, which may be raised again.
    const words = ['ulimit -S -f 6000; exec "$@"', "sh", process.execPath, "dist/src/cli/bin.js", "start", "--quiet"];
    // Without a keeper: the limit is raised of the process that was started.
    words.push("--set", "server.wedged=0s");
    child = spawn("/bin/sh", ["-c", ...words, "--config", folder.path("limited.yaml")], { stdio: "ignore" });
    const url = `http://127.0.0.1:${port}`;
    await ready(url);
    expect(await fill(url)).to.equal(503);
    for (let probe = 0; probe < 3; probe++) expect(await readyz(url)).to.equal(503);
    const { status } = spawnSync("prlimit", ["--pid", String(child.pid), "--fsize=unlimited:unlimited"]);
    if (status !== 0) return this.skip(); // without util-linux the limit stays
    await ready(url);
    expect((await start(url, "hello")).status).to.be.below(300);
  });
});
