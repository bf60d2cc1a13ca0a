// Real servers for the journals that are separate packages: nats-server from the PATH or the cache, the PostgreSQL of the tests.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster } from "../dist/test/plugins/postgres/cluster.js";
import { natsServer } from "./nats-server.mjs";

/** Calls `use` with the options of each journal, by its type, while its server runs. */
export async function withStores(use) {
  const nats = await startNats();
  const cluster = await Cluster.start();
  try {
    await use({
      nats: (space) =>
        `servers: ["nats://127.0.0.1:${nats.port}"], replicas: 1, shards: 1, durability: unchecked, space: ${space}`,
      postgres: () => `url: "${cluster.url}"`,
    });
  } finally {
    await cluster.stop();
    nats.stop();
  }
}

async function startNats() {
  const folder = mkdtempSync(join(tmpdir(), "venturi-nats-"));
  const port = await freePort();
  const server = spawn(await natsServer(), ["-js", "-a", "127.0.0.1", "-p", String(port), "-sd", folder], {
    stdio: "ignore",
  });
  const stop = () => {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await isOpen(port)); tries++) {
    if (tries > 100) {
      stop();
      throw new Error("nats-server does not start");
    }
    await sleep(100);
  }
  return { port, stop };
}

const isOpen = (port) =>
  new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => done(true));
    socket.on("error", () => done(false)).on("connect", () => socket.destroy());
  });

export const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
