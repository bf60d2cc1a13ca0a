import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { Store } from "./store.ts";

export interface ThreadData {
  readonly file: string;
  readonly busyTimeout: number;
}

export type Operation = "put" | "withTerms" | "notes" | "nearest" | "get" | "list" | "erase";

export interface Request {
  readonly id: number;
  readonly operation: Operation | "close";
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly id: number; readonly value: unknown }
  /** `permanent`: repeating it would fail again. */
  | { readonly id: number; readonly failure: string; readonly permanent: boolean };

/** SQLite's codes for a value that is too big, of the wrong type, or cannot be bound. */
const ofValue: ReadonlySet<number> = new Set([18, 20, 25]);

/** A commit waits for the disk, and blocks only this thread. */
function serve(port: MessagePort, { file, busyTimeout }: ThreadData): void {
  let store: Store | undefined;
  port.on("message", ({ id, operation, args }: Request) => {
    try {
      if (operation === "close") {
        store?.close();
        port.postMessage({ id, value: undefined } satisfies Reply);
        port.close();
        return;
      }
      store ??= new Store(file, busyTimeout);
      const method = store[operation] as (...args: readonly unknown[]) => unknown; // The sender is typed by `Store`.
      port.postMessage({ id, value: method.apply(store, [...args]) } satisfies Reply);
    } catch (thrown) {
      const failure = thrown instanceof Error ? thrown.message : String(thrown);
      const code = thrown instanceof Error && "errcode" in thrown ? Number(thrown.errcode) & 0xff : 0;
      port.postMessage({ id, failure, permanent: ofValue.has(code) } satisfies Reply);
    }
  });
}

if (parentPort) serve(parentPort, workerData as ThreadData); // Passed by `NotesInSqlite`.
