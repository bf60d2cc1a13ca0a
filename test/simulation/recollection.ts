import memorize from "../../plugins/memorize/index.ts";
import recall from "../../plugins/recall/index.ts";
import { NotesInMemory } from "../../plugins/recall-memory/notes.ts";
import remember from "../../plugins/remember/index.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { Journal } from "../../src/core/journal/journal.ts";
import type { Clock } from "../../src/core/ports/clock.ts";
import type { StoredDocument } from "../../src/core/ports/documents.ts";
import type { Hooks } from "../../src/core/ports/hooks.ts";
import type { MemoryStore, PutNote } from "../../src/core/ports/memory.ts";
import { Notes } from "../../src/core/ports/notes.ts";
import { Runs } from "../../src/core/ports/runs.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import type { EventOf, RunEvent } from "../../src/core/run/events.ts";
import { forPlugins } from "../../src/host/build/plugin-ports.ts";
import type { Engine } from "./engine.ts";
import type { Life } from "./world.ts";

interface MemoryParts {
  readonly life: Life;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly runs: () => Runs;
}

/** The product's own memory in every process: a document in the journal, and notes in a store of their own that may fail. */
export class Recollection {
  readonly #engine: Engine;
  readonly #store = new NotesInMemory();
  /** What each version of a document had, by its place. */
  readonly #documents = new Map<string, StoredDocument>();
  readonly #changes = new Map<string, string>();
  readonly #notes = new Map<string, string>();

  constructor(engine: Engine) {
    this.#engine = engine;
    if (!engine.profile.remembers) return;
    engine.observers.push((method, given, answer) => {
      if (method === "keyValues.put" && given[0] === "memory" && answer !== undefined)
        this.#kept(given[1] as { key: string; value: string });
    });
  }

  /** Of one process. */
  serve({ life, clock, journal, runs }: MemoryParts): { tools: Tool[]; hooks: Hooks[]; notes: Notes } | undefined {
    if (!this.#engine.profile.remembers) return undefined;
    const bounds = { longest: 1_000, most: 1_000, near: 0.5, timeout: 5_000 };
    const notes = new Notes("notes", this.#reached(life), { bounds, clock });
    const reached = forPlugins(Journal, journal);
    const resolve = (token: unknown) => (token === Journal ? reached : { get: () => notes });
    const context = (name: string) => ({ name, clock, runs: () => forPlugins(Runs, runs()), resolve }) as never; // as much of it as is used
    const kept = { store: "notes", description: undefined };
    const scope = this.#engine.profile.session ? "session" : "agent";
    const document = remember.create(remember.options.parse({ scope }), context("remember")) as Tool & { hooks: Hooks };
    const tools = [
      document,
      memorize.create(memorize.options.parse({ ...kept, scope }), context("memorize")),
      recall.create(recall.options.parse({ ...kept, scopes: [scope] }), context("recall")),
    ] as Tool[];
    return { tools, hooks: [document.hooks], notes };
  }

  /** The store of the notes as a process reaches it. */
  #reached(life: Life): MemoryStore {
    const { world, profile, coverage } = this.#engine;
    const { decisions } = world;
    const call = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
      await world.io(life, `notes: ${what}`, decisions.below(50));
      const fails = !this.#engine.calm && decisions.chance(profile.lost);
      if (fails && decisions.chance(0.5)) throw new VenturiError("memory.put", "unavailable", "refused");
      const answer = await work();
      await world.io(life, `notes: ${what} answered`, decisions.below(50));
      if (!fails) return answer;
      coverage.count("note stored, answer lost");
      throw new VenturiError("memory.put", "unavailable", "no answer");
    };
    return {
      put: (asked) => call("put", () => this.#put(asked)),
      search: (asked) => call("search", () => this.#store.search(asked)),
      get: (place, id) => call("get", () => this.#store.get(place, id)),
      list: (place, page) => call("list", () => this.#store.list(place, page)),
      erase: (which) => call("erase", () => this.#store.erase(which)),
    };
  }

  async #put(asked: PutNote) {
    const { id, text } = asked.note;
    const outcome = await this.#store.put(asked);
    const known = this.#notes.get(text);
    // A fork has calls of its own, which somebody agrees to.
    const isFork = this.#engine.restored.has(asked.note.run ?? "");
    if (outcome === "added" && known !== undefined && known !== id && !isFork)
      this.#engine.world.violated(`${asked.note.run}: "${text}" is noted twice`);
    if (!isFork) this.#notes.set(text, id);
    return outcome;
  }

  /** A version more, with a change more, by a call that has made none; nothing that was there is lost. */
  #kept({ key, value }: { key: string; value: string }): void {
    const { world } = this.#engine;
    const after = JSON.parse(value) as StoredDocument; // written from one
    const before = this.#documents.get(key);
    this.#documents.set(key, after);
    const known = before?.version ?? 0;
    // What was under way when the power was lost may be there, and nobody was told.
    const news = after.changes.filter(({ version }) => version > known);
    const isNext = after.version === known + 1 || (this.#engine.sqlite !== undefined && after.version > known);
    if (!isNext || news.length !== after.version - known)
      world.violated(`version ${after.version} of a document follows ${known}`);
    for (const { run, call } of news) {
      const name = `${run} ${call}`;
      if (this.#changes.has(name)) world.violated(`${name} has changed a document twice`);
      this.#changes.set(name, key);
    }
    this.#engine.coverage.count("document changed");
    const keys = new Set(Object.keys(after.value as object));
    for (const old of Object.keys((before?.value ?? {}) as object))
      if (!keys.has(old)) world.violated(`version ${after.version} of a document has lost ${old}`);
  }

  /** Of a run at its end: what it says of its memory has happened. */
  check(events: readonly RunEvent[], say: (what: string) => void): void {
    const names = new Map<string, string>();
    for (const event of events) {
      if (event.type === "tool.started") names.set(event.call, event.name);
      if (event.type === "memory.changed") this.#checkChanged(event, say);
      if (event.type !== "tool.finished" || !event.ok || names.get(event.call) !== "remember") continue;
      // What a fork took over was done by its original.
      if (!this.#changes.has(`${event.run} ${event.call}`) && !this.#engine.restored.has(event.run))
        say(`remember (${event.call}) says that it is done, and nothing is stored`);
    }
  }

  #checkChanged({ run, call, version }: EventOf<"memory.changed">, say: (what: string) => void): void {
    const key = this.#changes.get(`${run} ${call}`) ?? "";
    const change = this.#documents.get(key)?.changes.find((each) => each.run === run && each.call === call);
    if (change !== undefined && change.version !== version)
      say(`memory.changed says version ${version}, and it is ${change.version}`);
  }
}
