import { strict as assert } from "node:assert";
import type { MemoryStore, Note, NoteSearch, PutNote } from "../core/ports/memory.ts";
import type { MemoryPlace } from "../core/ports/memory-owners.ts";
import { attacks } from "./memory-attacks.ts";

type Opened = MemoryStore & { close?(): Promise<void> | void };

export interface MemorySubject {
  open(): Promise<Opened>;
  /** Another connection to the last opened store, as a second replica. Absent when it lives in one process. */
  reopen?(): Promise<Opened>;
}

let count = 0;
/** Unique names, because cases may share a store. */
const fresh = (kind: string): string => `${kind}-${process.pid}-${++count}`;

/** The contract of every memory, as mocha cases. */
export function memoryContract(name: string, subject: MemorySubject): void {
  describe(`memory contract: ${name}`, () => {
    const open: Opened[] = [];
    let store: Opened;
    let place: MemoryPlace;
    beforeEach(async () => {
      store = await subject.open();
      open.push(store);
      place = { tenant: fresh("tenant"), scope: "user", owner: fresh("ana") };
    });
    afterEach(async () => {
      for (const each of open.splice(0).reverse()) await each.close?.();
    });
    const other = async (): Promise<Opened> => {
      const again = await subject.reopen?.();
      if (again !== undefined) open.push(again);
      return again ?? store;
    };
    const put = (id: string, text: string, given: Partial<Omit<PutNote, "note">> & { note?: Partial<Note> } = {}) => {
      const { note, ...rest } = given;
      const { tenant, ...of } = place;
      return store.put({
        tenant,
        most: 1_000,
        existing: "replace",
        note: { id, text, at: 1, ...of, ...note },
        ...rest,
      });
    };
    const search = async (text: string, given: Partial<NoteSearch> = {}): Promise<string[]> => {
      const found = await store.search({ places: [place], text, top: 10, near: 0, ...given });
      return found.map(({ id }) => id);
    };

    it("finds what was put by its words, on another replica too, best first and no more than asked for", async () => {
      await put("tea", "Ana likes green tea in the morning");
      await put("dog", "Ana has two dogs and a cat");
      await put("job", "She works as a nurse");
      const [found] = await (await other()).search({
        places: [place],
        text: "Which TEA does she like?",
        top: 1,
        near: 0,
      });
      assert.deepEqual(
        { ...found, score: 0 },
        { id: "tea", text: "Ana likes green tea in the morning", at: 1, scope: "user", owner: place.owner, score: 0 },
      );
      assert.ok((found?.score ?? 0) > 0);
      assert.deepEqual(await search("dog"), ["dog"]);
      assert.equal((await search("ana", { top: 1 })).length, 1);
      assert.deepEqual(await search("zebra"), []);
      assert.deepEqual(await search("!?"), []);
    });

    it("puts a rare word before frequent ones", async () => {
      for (let index = 0; index < 30; index++) await put(`n${index}`, `the meeting is about the plan number ${index}`);
      await put("rare", "the password of the printer is under the xerox");
      assert.equal((await search("what about the plan of the xerox"))[0], "rare");
    });

    it("finds words of many scripts, whatever their case, accents and plurals", async () => {
      await put("de", "Die Größe des Hauses in Österreich");
      await put("ja", "彼女は東京に住んでいます");
      await put("ru", "Она живёт в Москве");
      await put("ar", "تعيش في القاهرة");
      await put("tr", "İstanbul'da yaşıyor");
      await put("en", "Her allergies: peanuts");
      assert.deepEqual(await search("grosse OSTERREICH"), ["de"]);
      assert.deepEqual(await search("東京"), ["ja"]);
      assert.deepEqual(await search("МОСКВЕ"), ["ru"]);
      assert.deepEqual(await search("القاهرة"), ["ar"]);
      assert.deepEqual(await search("istanbul"), ["tr"]);
      assert.deepEqual(await search("allergy to a peanut"), ["en"]);
    });

    it("keeps a text as it is, and who put it", async () => {
      const text = "quotes ' \" and \\ and %_ and ü€😀\nand\ttabs $1 :a @b";
      const note = { by: "key", agent: "helper", run: fresh("run"), at: 1_760_000_000_123 };
      assert.equal(await put("a", text, { note }), "added");
      const { owner, scope } = place;
      assert.deepEqual({ ...(await (await other()).get(place, "a")) }, { id: "a", text, owner, scope, ...note });
      assert.equal(await store.get(place, "b"), undefined);
      assert.equal(await store.get({ ...place, scope: "agent" }, "a"), undefined);
    });

    it("makes a put under one id once, however many replicas repeat it at the same time", async () => {
      const elsewhere = await other();
      const { tenant, ...of } = place;
      const asked = (index: number): PutNote => ({
        tenant,
        most: 5,
        existing: "keep",
        note: { id: "same", text: `number ${index}`, at: index, ...of },
      });
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, (_, index) => (index % 2 ? store : elsewhere).put(asked(index))),
      );
      assert.equal(outcomes.filter((outcome) => outcome === "added").length, 1);
      assert.equal(outcomes.filter((outcome) => outcome === "kept").length, 11);
      const first = await store.get(place, "same");
      assert.equal(await store.put(asked(99)), "kept");
      assert.deepEqual(await store.get(place, "same"), first);
      assert.equal((await store.list(place, { limit: 10 })).length, 1);
    });

    it("a replaced note is found by its new words alone", async () => {
      await put("a", "she likes coffee");
      assert.equal(await put("a", "she likes tea now"), "replaced");
      assert.deepEqual(await search("coffee"), []);
      assert.deepEqual(await search("tea"), ["a"]);
    });

    it("stores no more than an owner may have, also when many put at once, and replaces even then", async () => {
      const elsewhere = await other();
      const { tenant, ...of } = place;
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 ? store : elsewhere).put({
            tenant,
            most: 4,
            existing: "replace",
            note: { id: `n${index}`, text: "x", at: 1, ...of },
          }),
        ),
      );
      assert.equal(outcomes.filter((outcome) => outcome === "added").length, 4);
      assert.equal(outcomes.filter((outcome) => outcome === "full").length, 8);
      const [known] = await store.list(place, { limit: 1 });
      assert.equal(await put(known?.id ?? "", "y", { most: 4 }), "replaced");
      assert.equal(await put("other", "x", { most: 4, note: { owner: "bob" } }), "added");
    });

    it("lists by id, page by page", async () => {
      for (const id of ["c", "a", "b", "B", "1"]) await put(id, "x");
      assert.deepEqual(
        (await store.list(place, { limit: 3 })).map(({ id }) => id),
        ["1", "B", "a"],
      );
      assert.deepEqual(
        (await store.list(place, { limit: 3, after: "a" })).map(({ id }) => id),
        ["b", "c"],
      );
    });

    it("erases a note, an owner's, and a run's, and nothing else", async () => {
      const run = fresh("run");
      const bob = { ...place, owner: "bob" };
      await put("a", "one alpha", { note: { run } });
      await put("b", "two alpha");
      await put("c", "three alpha", { note: { owner: "bob", run } });
      await put("d", "four alpha", { tenant: fresh("elsewhere"), note: { run } });
      assert.equal(await store.erase({ ...place, id: "nothing" }), 0);
      assert.equal(await store.erase({ tenant: place.tenant, run }), 2);
      assert.deepEqual(await search("alpha", { places: [place, bob] }), ["b"]);
      await put("e", "five alpha");
      assert.equal(await store.erase({ ...place, id: "e" }), 1);
      assert.equal(await store.erase({ tenant: fresh("elsewhere"), scope: "user", owner: place.owner }), 0);
      assert.equal(await store.erase(place), 1);
      assert.deepEqual(await (await other()).list(place, { limit: 10 }), []);
      assert.deepEqual(await search("alpha"), []);
      assert.equal(await put("a", "again alpha"), "added");
    });

    it("compares vectors of one model and length alone, and puts what both ways find first", async () => {
      const vector = (model: string, ...values: number[]) => ({ model, values: unit(values) });
      await put("near", "a puppy", { vector: vector("m", 1, 0.1, 0) });
      await put("both", "my dog is small", { vector: vector("m", 1, 0.3, 0) });
      await put("words", "the dog", { vector: vector("m", -1, 0, 0) });
      await put("far", "a car", { vector: vector("m", 0, 0, 1) });
      await put("other", "a whale", { vector: vector("other", 1, 0, 0) });
      await put("short", "a wolf", { vector: vector("m", 1, 0) });
      await put("none", "a fox");
      const asked = { vector: vector("m", 1, 0, 0), near: 0.5 };
      assert.deepEqual(await search("zzz", asked), ["near", "both"]);
      const [first, ...rest] = await search("dog", asked);
      assert.equal(first, "both");
      assert.deepEqual(rest.sort(), ["near", "words"]);
      assert.deepEqual(await search("zzz", { ...asked, near: 0.99 }), ["near"]);
      await put("near", "a puppy");
      assert.deepEqual(await search("zzz", asked), ["both"]);
    });

    it("no query of one tenant or owner finds another's text, or has its order changed by it", async () => {
      const foreign = "shared words secret tea dog 東京 größe near not and or";
      const places: MemoryPlace[] = [
        { ...place, tenant: `${place.tenant}x` },
        { ...place, owner: `${place.owner}x` },
        { ...place, scope: "agent" },
        { ...place, tenant: place.owner, owner: place.tenant },
        { ...place, owner: "%" },
        { ...place, owner: "_" },
        { ...place, tenant: "*", owner: "*" },
        { ...place, tenant: "", owner: "" },
      ];
      await put("own1", "tea and shared words");
      await put("own2", "dog words");
      const own = await search("shared words tea dog");
      const scores = await store.search({ places: [place], text: "shared words tea dog", top: 10, near: 0 });
      const vector = { model: "m", values: unit([1, 1]) };
      for (const [index, { tenant, ...of }] of places.entries()) {
        for (let each = 0; each < 3; each++) {
          await store.put({
            tenant,
            most: 10,
            existing: "keep",
            vector,
            note: { id: `foreign${each}`, text: `${foreign} ${index}`, at: 1, ...of },
          });
        }
      }
      assert.deepEqual(await search("shared words tea dog"), own);
      assert.deepEqual(await store.search({ places: [place], text: "shared words tea dog", top: 10, near: 0 }), scores);
      for (const query of attacks(place)) {
        const found = await store.search({ places: [place], text: query, vector, top: 50, near: 0 });
        for (const { id, owner, scope } of found) {
          assert.ok(id.startsWith("own"), `${query.slice(0, 60)} found ${id}`);
          assert.deepEqual([owner, scope], [place.owner, place.scope]);
        }
      }
      assert.deepEqual(await store.search({ places: [], text: "tea", top: 10, near: 0, vector }), []);
      for (const { tenant, ...of } of places) {
        const found = await store.search({ places: [{ tenant, ...of }], text: "secret", top: 10, near: 0 });
        assert.equal(found.length, 3);
      }
    });
  });
}

function unit(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}
