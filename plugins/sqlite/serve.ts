import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";
import { mostInWal, WalSize } from "./checkpoints.ts";
import { keepNoTraces } from "./erasure.ts";
import { explain, isPermanent, needsReopening } from "./failures.ts";
import { FileGone, FileIdentity } from "./identity.ts";
import type { Operation, Reply, Request, ThreadData } from "./protocol.ts";
import { migrate, migrations } from "./schema.ts";
import { dropStatistics, hasStatistics } from "./statistics.ts";
import { Store } from "./store.ts";
import { WalWatch } from "./wal-watch.ts";

/** Interval of checks that the file at the path is still the open one, ms. Writes check it too. */
const guardEvery = 500;
/** How soon other processes' writes are noticed while somebody follows them, ms. */
const readAlong = 10;
/** Reads still work wherever the file is now. */
const reads: ReadonlySet<Operation> = new Set([
  "read",
  "readMany",
  "held",
  "workers",
  "backlog",
  "signalsMany",
  "get",
  "list",
  "sums",
  "wire",
  "audits",
  "blob",
  "blobPart",
  "blobsOf",
  "watchEvents",
  "checkpoint",
]);

/** Owns a connection and answers requests from a port; a commit blocks this thread until the disk has it. */
export function serve(port: MessagePort, options: ThreadData): void {
  let open: Connection | undefined;
  let version: unknown;
  let watchesEvents = false;
  const identity = new FileIdentity(options.file);
  let loss: string | undefined;

  const store = (): Store => {
    // Before reopening, which would create an empty file in its place.
    if (!open) identity.check();
    if (!open) {
      open = connect(options, (versions) => port.postMessage({ migrated: versions } satisfies Reply));
      if (watchesEvents) open.store.watchEvents("watch");
      version = undefined; // Others may have written in between.
      if (options.role === "all") watching.open(options.file);
    }
    return open.store;
  };
  const watchFile = (): void => {
    const now = identity.loss;
    if (now === loss) return;
    loss = now;
    port.postMessage({ loss } satisfies Reply);
  };
  const shut = (): void => {
    watching.close();
    open?.database.close();
    open = undefined;
    identity.forgetLog();
  };
  const answer = (request: Request): Reply => {
    try {
      if (request.operation === "close") {
        shut();
        return { id: request.id, value: undefined };
      }
      const target = store();
      if (request.operation === "watchEvents") {
        watchesEvents = request.args[0] === "watch";
        watching.hurry(watchesEvents ? Math.min(options.watch, readAlong) : options.watch);
      }
      if (!reads.has(request.operation)) identity.check();
      const method = target[request.operation] as (...args: readonly unknown[]) => unknown; // The sender is typed by `Operations`.
      const value = method.apply(target, [...request.args]);
      identity.learn();
      if (request.operation === "watchEvents" && watchesEvents) look("first"); // Last: it may close the connection.
      return { id: request.id, value };
    } catch (thrown) {
      // A connection that has seen a corrupt file is unusable even after the file is repaired.
      if (needsReopening(thrown)) shut();
      if (thrown instanceof FileGone) watchFile();
      return { id: request.id, ...explain(thrown, options.file), permanent: isPermanent(thrown) };
    }
  };
  const look = (first?: "first"): boolean => {
    if (!open) return false;
    try {
      const seen = open.version.get()?.data_version;
      if (seen === version && first === undefined) return false;
      version = seen;
      const changed = open.store.changes();
      const { work, signals, events } = changed;
      if (work || signals.length > 0 || events?.length !== 0) port.postMessage({ changed } satisfies Reply);
      // Left by another process that has just written.
      if (hasStatistics(open.database)) shut();
    } catch {
      // A lost wake-up costs its reader a second; the next request reports the error.
    }
    return true;
  };
  const watching = new WalWatch(options.watch, look);

  port.on("message", (request: Request) => {
    const reply = answer(request);
    // Bytes from the database have no other owner, so they are transferred instead of copied.
    if ("value" in reply && reply.value instanceof Uint8Array)
      port.postMessage(reply, [reply.value.buffer as ArrayBuffer]);
    else port.postMessage(reply);
    if (options.role === "all" && open?.wal.isDueAfter(request.operation) === true)
      port.postMessage({ grown: true } satisfies Reply);
    if (request.operation !== "close") return;
    clearInterval(guarding);
    port.close();
  });
  const guarding = options.role === "all" ? setInterval(watchFile, guardEvery) : undefined;
}

interface Connection {
  readonly database: DatabaseSync;
  readonly store: Store;
  readonly version: StatementSync;
  readonly wal: WalSize;
}

function connect(options: ThreadData, migrated: (versions: { from: number; to: number }) => void): Connection {
  forgetStatistics(options);
  const database = new DatabaseSync(options.file, { timeout: options.busyTimeout });
  try {
    const store = storeIn(database, options, migrated);
    const version = database.prepare("PRAGMA data_version");
    return { database, store, version, wal: new WalSize(database) };
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Sets up an open database and returns its store. */
export function storeIn(
  database: DatabaseSync,
  options: ThreadData,
  migrated: (versions: { from: number; to: number }) => void,
): Store {
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${mostInWal}`);
  database.exec("PRAGMA journal_size_limit = 67108864");
  keepNoTraces(database);
  if (options.maxSize !== undefined) {
    const pageSize = Number(database.prepare("PRAGMA page_size").get()?.page_size);
    database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(options.maxSize / pageSize))}`);
  }
  const from = migrate(database);
  if (from !== undefined) migrated({ from, to: migrations.length });
  return new Store(database, options);
}

/** On a separate connection, because a connection keeps the statistics it has loaded. */
function forgetStatistics(options: ThreadData): void {
  if (options.file === ":memory:") return;
  const database = new DatabaseSync(options.file, { timeout: options.busyTimeout });
  try {
    dropStatistics(database);
  } catch {
    // A locked or unusable file: opening it reports that.
  } finally {
    database.close();
  }
}
