import { Worker } from "node:worker_threads";
import {
  byWords,
  candidates,
  fused,
  mostFound,
  mostVectors,
  mostWithTerm,
  noteIn,
  queryTerms,
  termsOf,
} from "venturi/internal";
import {
  type ErasedNotes,
  type FoundNote,
  type MemoryPlace,
  type MemoryStore,
  type Note,
  type NotePage,
  type NoteSearch,
  type PutNote,
  type PutOutcome,
  VenturiError,
} from "venturi/plugin";
import type { Store } from "./store.ts";
import type { Operation, Reply, Request, ThreadData } from "./thread.ts";

interface Pending {
  readonly op: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: VenturiError) => void;
}

/** Notes in a file, whose connection has its own thread. A dead thread is replaced at the next request. */
export class NotesInSqlite implements MemoryStore {
  readonly #options: ThreadData;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #next = 0;
  #closed = false;

  constructor(options: ThreadData) {
    this.#options = options;
  }

  async put({ tenant, note, vector, most, existing }: PutNote): Promise<PutOutcome> {
    const { scope, owner, id, text, at, by = null, agent = null, run = null } = note;
    const given = { id, text, at, by, agent, run };
    const place = { tenant, scope, owner };
    return await this.#ask("memory.put", "put", { place, note: given, terms: termsOf(text), vector, most, existing });
  }

  async search({ places, text, vector, near, top }: NoteSearch): Promise<FoundNote[]> {
    const op = "memory.search";
    const terms = queryTerms(text);
    const { notes, found } = await this.#ask(op, "withTerms", places, terms, mostWithTerm);
    const byTerm = new Map(terms.map((term, index) => [term, found[index] ?? []]));
    const numbers = candidates(terms, notes, (term) => byTerm.get(term) ?? []);
    const lists = [byWords((await this.#ask(op, "notes", numbers)).map(noteIn), terms)];
    if (vector !== undefined) {
      const nearest = { ...vector, near, compared: mostVectors, top: mostFound };
      lists.push((await this.#ask(op, "nearest", places, nearest)).map(noteIn));
    }
    return fused(lists, top);
  }

  async get(place: MemoryPlace, id: string): Promise<Note | undefined> {
    const found = await this.#ask("memory.read", "get", place, id);
    return found && noteIn(found);
  }

  async list(place: MemoryPlace, { limit, after = "" }: NotePage): Promise<Note[]> {
    return (await this.#ask("memory.read", "list", place, after, limit)).map(noteIn);
  }

  async erase(which: ErasedNotes): Promise<number> {
    return await this.#ask("memory.remove", "erase", which);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const gone = new Promise((resolve) => worker.once("exit", resolve));
    await this.#send("memory.close", "close", []);
    await gone;
  }

  #ask<O extends Operation>(op: string, operation: O, ...args: Parameters<Store[O]>): Promise<ReturnType<Store[O]>> {
    if (this.#closed) return Promise.reject(new VenturiError(op, "unavailable", "the memory has been closed"));
    return this.#send(op, operation, args) as Promise<ReturnType<Store[O]>>; // The thread calls that method.
  }

  #send(op: string, operation: Request["operation"], args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#next;
      this.#worker ??= this.#start();
      this.#worker.postMessage({ id, operation, args } satisfies Request);
      this.#pending.set(id, { op, resolve, reject });
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL("./thread.js", import.meta.url), {
      workerData: this.#options,
      // Without this process's flags: some (--input-type) make no sense for a file.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    worker.on("message", (reply: Reply) => this.#receive(reply));
    worker.on("error", (error) => this.#lost(worker, error));
    worker.on("exit", () => this.#lost(worker, new Error("it has ended")));
    return worker;
  }

  #receive(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (pending === undefined) return;
    if (!("failure" in reply)) return pending.resolve(reply.value);
    const code = reply.permanent ? "record_invalid" : "unavailable";
    const cause = new Error(this.#options.file); // For the log: callers do not learn where it is.
    pending.reject(new VenturiError(pending.op, code, `the memory cannot be used: ${reply.failure}`, { cause }));
  }

  #lost(worker: Worker, cause: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { op, reject } of pending) {
      reject(new VenturiError(op, "unavailable", `the memory's thread was lost: ${cause.message}`, { cause }));
    }
  }
}
