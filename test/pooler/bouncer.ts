import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../chaos/port.ts";
import type { Cluster } from "../plugins/postgres/cluster.ts";

/** PgBouncer refuses to run as root, too. */
const asWhom = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const program = process.env.PGBOUNCER ?? "pgbouncer";

const howToInstall = `This test needs PgBouncer 1.18 or newer, and "${program}" cannot be run.
  Debian, Ubuntu: apt-get install pgbouncer
  macOS:          brew install pgbouncer
  elsewhere:      https://www.pgbouncer.org/install.html, and PGBOUNCER=/path/to/pgbouncer if it is not on the PATH
`;

/** Throws with the way to install it when there is none. */
export function bouncerVersion(): string {
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  if (status !== 0) throw new Error(howToInstall);
  return stdout.split("\n")[0] ?? "";
}

/** PgBouncer before a cluster; in transaction mode with so few connections that everyone shares them. */
export class Bouncer {
  readonly url: string;
  readonly #port: number;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.#port = port;
    this.#folder = folder;
    this.url = `postgres://venturi@127.0.0.1:${port}/postgres`;
  }

  static readonly servers = 4;

  static async start(cluster: Cluster, mode: "transaction" | "session" = "transaction"): Promise<Bouncer> {
    const folder = mkdtempSync(join(tmpdir(), "venturi-pgbouncer-"));
    chmodSync(folder, 0o755);
    const bouncer = new Bouncer(await freePort(), folder);
    writeFileSync(join(folder, "users"), '"venturi" ""\n');
    writeFileSync(join(folder, "pgbouncer.ini"), settingsOf({ cluster, port: bouncer.#port, folder, mode }));
    await bouncer.up();
    return bouncer;
  }

  async up(): Promise<void> {
    const child = spawn(program, ["-q", join(this.#folder, "pgbouncer.ini")], { ...asWhom, stdio: "ignore" });
    this.#process = child;
    const kill = () => child.kill("SIGKILL");
    process.once("exit", kill);
    child.once("exit", () => process.off("exit", kill));
    while (!(await answers(this.#port))) {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

interface Parts {
  readonly cluster: Cluster;
  readonly port: number;
  readonly folder: string;
  readonly mode: "transaction" | "session";
}

const settingsOf = ({ cluster, port, folder, mode }: Parts): string => `[databases]
postgres = host=127.0.0.1 port=${cluster.port} dbname=postgres user=venturi

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, "users")}
pool_mode = ${mode}
default_pool_size = ${mode === "session" ? 40 : Bouncer.servers}
max_client_conn = 500
server_login_retry = 1
`;

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
