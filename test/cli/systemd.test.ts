import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "chai";
import { testFolder } from "../host/folder.ts";
import { Started } from "../host/processes/started.ts";
import { sampled } from "../sweep.ts";

/** Node has no Unix datagram sockets, so this listens as systemd does. */
const listener = `
import os, socket, sys
socket_ = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
socket_.bind(sys.argv[1])
print("bound", flush=True)
while True: print(socket_.recv(4096).decode().replace(chr(10), " "), flush=True)
`;
const missing = ["python3", "systemd-notify"].filter((program) => spawnSync(program, ["--version"]).status !== 0);
const config = (processes: number) => `
dataFolder: ./data
providers: { demo: { type: simulator } }
agents: { assistant: { model: demo/small } }
journal: { type: sqlite, path: ./data/venturi.db }
channels: { http: {} }
server: { listen: 0, processes: ${processes} }
telemetry: { logs: { format: text } }
`;

describe("systemd", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let python: ChildProcess;
  afterEach(() => python?.kill());

  for (const processes of sampled([1, 2], 2)) {
    it(`is told over its socket that ${processes} of them are ready, alive, reloading and stopping`, async function () {
      if (missing.length > 0) return this.skip();
      const file = folder.write({ "venturi.yaml": config(processes) });
      const socket = join(file, "..", `notify-${processes}`);
      python = spawn("python3", ["-c", listener, socket]);
      let told = "";
      python.stdout?.setEncoding("utf8").on("data", (text: string) => {
        told += text;
        python.emit("told");
      });
      const until = async (word: string) => {
        while (!told.includes(word)) await once(python, "told");
      };
      await until("bound");
      Object.assign(process.env, { NOTIFY_SOCKET: socket, WATCHDOG_USEC: "200000" });
      const service = new Started(file);
      delete process.env.NOTIFY_SOCKET;
      delete process.env.WATCHDOG_USEC;
      await until("READY=1 STATUS=listening on http://127.0.0.1:");
      await until("WATCHDOG=1");
      service.child.kill("SIGHUP");
      await until("RELOADING=1 MONOTONIC_USEC=");
      service.child.kill("SIGTERM");
      await until("STOPPING=1");
      expect(await service.ended).to.equal(0);
    });
  }

  it("gets its exit when it stops a service that is about to reload", async function () {
    if (missing.length > 0) return this.skip();
    const file = folder.write({ "venturi.yaml": config(1) });
    // It tells systemd before it reloads; nobody listens here, which takes as long.
    Object.assign(process.env, { NOTIFY_SOCKET: join(file, "..", "nobody") });
    const services = sampled([0, 1], 2).map((index) => new Started(file, "--set", `dataFolder=./data-${index}`));
    delete process.env.NOTIFY_SOCKET;
    await Promise.all(
      services.map(async (service, index) => {
        await service.listening();
        service.child.kill("SIGHUP");
        await new Promise((resolve) => setTimeout(resolve, index * 10));
        service.child.kill("SIGTERM");
        expect(await service.ended).to.equal(0);
      }),
    );
  });
});
