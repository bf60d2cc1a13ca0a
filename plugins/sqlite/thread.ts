import { DatabaseSync } from "node:sqlite";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { explain, isPermanent, needsReopening } from "./failures.ts";
import { FileGone, FileIdentity } from "./identity.ts";
import type { Operation, Reply, Request, ThreadData } from "./protocol.ts";
import { migrate } from "./schema.ts";
import { Store } from "./store.ts";

/** Interval of checks that the file at the path is the open one, ms. */
const guardEvery = 250;
/** Reads still work wherever the file is now. */
const reads: ReadonlySet<Operation> = new Set(["read", "readMany", "held", "signalsMany", "get", "list", "wire"]);

/**
 * The thread that owns the connection: a commit waits for the disk, and blocks only this thread. Loads nothing but its own files:
 * with venturi/plugin it took 250 ms to start, without it takes 30.
 */
function serve(port: MessagePort, options: ThreadData): void {
  let open: { database: DatabaseSync; store: Store } | undefined;
  let version: unknown;
  let lastSignal = 0;
  const identity = new FileIdentity(options.file);
  let loss: string | undefined;

  const store = (): Store => {
    // Before reopening, which would create an empty file in its place.
    if (!open) identity.check();
    open ??= connect(options);
    return open.store;
  };
  const watchFile = (): void => {
    const now = identity.loss;
    if (now === loss) return;
    loss = now;
    port.postMessage({ loss } satisfies Reply);
  };
  const shut = (): void => {
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
      if (!reads.has(request.operation)) identity.check();
      const method = target[request.operation] as (...args: readonly unknown[]) => unknown; // the sender is typed by Operations
      const value = method.apply(target, [...request.args]);
      identity.learn();
      return { id: request.id, value };
    } catch (thrown) {
      // A connection that has seen a corrupt file is unusable even after the file is repaired.
      if (needsReopening(thrown)) shut();
      if (thrown instanceof FileGone) watchFile();
      return { id: request.id, failure: explain(thrown, options.file), permanent: isPermanent(thrown) };
    }
  };
  const look = (): void => {
    if (!open) return;
    try {
      const seen = open.database.prepare("PRAGMA data_version").get()?.data_version;
      if (seen === version) return;
      version = seen;
      const changes = open.store.changes();
      port.postMessage({ changed: { work: changes.work, signals: changes.lastSignal > lastSignal } } satisfies Reply);
      lastSignal = changes.lastSignal;
    } catch {
      // a lost wake-up costs its reader a second; the next request reports the error
    }
  };

  port.on("message", (request: Request) => {
    port.postMessage(answer(request));
    if (request.operation !== "close") return;
    clearInterval(watching);
    clearInterval(guarding);
    port.close();
  });
  const watching = setInterval(look, options.watch);
  const guarding = setInterval(watchFile, guardEvery);
}

function connect(options: ThreadData): { database: DatabaseSync; store: Store } {
  const database = new DatabaseSync(options.file, { timeout: options.busyTimeout });
  try {
    // Every append rewrites a page of runs, so checkpoints should be rare; a commit waits for them, so not too rare.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2000");
    database.exec("PRAGMA journal_size_limit = 67108864");
    if (options.maxSize !== undefined) {
      const pageSize = Number(database.prepare("PRAGMA page_size").get()?.page_size);
      database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(options.maxSize / pageSize))}`);
    }
    migrate(database);
    return { database, store: new Store(database, options) };
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

if (parentPort) serve(parentPort, workerData as ThreadData); // passed by StoreThread
