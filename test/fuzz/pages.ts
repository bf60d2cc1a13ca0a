import { assert } from "chai";
import fc from "fast-check";
import { isStep, type RunEvent } from "../../src/core/run/events.ts";
import { pageBytes } from "../../src/core/run/page.ts";
import type { Service } from "../../src/host/service.ts";
import type { Target } from "./target.ts";

/** The agent of `openFuzzed` whose runs no other target makes, so that its lists stand still while they are read. */
export const pager = "pager";

interface Page {
  readonly events?: readonly { readonly seq: number; readonly type: string }[];
  readonly runs?: readonly { readonly run: string }[];
  readonly next?: number;
  readonly cursor?: string;
}

/** JSON is at most six times the text it holds (each character an escape); a page has one item more than fits. */
const largestPage = 6 * pageBytes;
const largestInput = 150_000;

/** Runs with one letter, with escapes, with halves of pairs, with texts that fill a page, and with many deltas. */
const inputs = [
  "go",
  "\0\u2028\ud800".repeat(500),
  "\u0001".repeat(largestInput / 6),
  "x".repeat(largestInput),
  "a b ".repeat(1_500),
  '{"events":[]}\n\n',
];

/** Pages of any size, from anywhere, together are what one reads at once: nothing twice, nothing left out, none too large. */
export async function openPages(service: Service): Promise<Target> {
  const get = async (path: string): Promise<Page> => {
    const response = await fetch(service.url + path, {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(120_000),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text.slice(0, 500));
    assert.isAtMost(text.length, largestPage + 6 * largestInput, path);
    return JSON.parse(text) as Page; // checked by what is read from it
  };
  const runs: { readonly run: string; readonly events: readonly { seq: number; type: string }[] }[] = [];
  for (const [index, input] of inputs.entries()) {
    const started = await fetch(`${service.url}/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent: pager, input, session: `s${index % 2}` }),
    });
    assert.equal(started.status, 200);
    const { run } = (await started.json()) as { run: string }; // a run's result
    runs.push({ run, events: await walk(get, `/v1/runs/${run}/events`, "after", { limit: 5_000, after: 0 }) });
  }
  const lists = [`/v1/runs?agent=${pager}`, "/v1/sessions/s0", "/v1/sessions/s1"];
  const whole = new Map<string, readonly string[]>();
  for (const list of lists) whole.set(list, await walkList(get, list, 200));
  return {
    name: "pages",
    property: () =>
      fc.asyncProperty(
        fc.nat({ max: inputs.length - 1 }),
        fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5_000 })),
        fc.nat({ max: 3_100 }),
        fc.boolean(),
        fc.constantFrom(...lists),
        async (index, limit, start, steps, list) => {
          const { run, events } = runs[index] ?? assert.fail();
          // Near the end when the pages are small, so that a history of thousands takes no thousand requests.
          const reach = Math.min(events.length, 30 * limit);
          const after = events.length - (start % (reach + 1));
          const path = `/v1/runs/${run}/events?steps=${steps ? 1 : 0}`;
          const read = await walk(get, path, "after", { limit, after });
          const expected = events.filter(({ seq, type }) => seq > after && (!steps || isStep({ type } as RunEvent)));
          assert.deepEqual(read, expected);
          assert.deepEqual(await walkList(get, list, Math.min(limit, 200)), whole.get(list));
        },
      ),
  };
}

async function walk(
  get: (path: string) => Promise<Page>,
  path: string,
  name: string,
  { limit, after }: { limit: number; after: number },
): Promise<{ seq: number; type: string }[]> {
  const read: { seq: number; type: string }[] = [];
  for (let next: number | undefined = after; next !== undefined; ) {
    const page: Page = await get(`${path}${path.includes("?") ? "&" : "?"}${name}=${next}&limit=${limit}`);
    const events = page.events ?? assert.fail("no events");
    assert.isAtMost(events.length, limit);
    read.push(...events);
    if (page.next !== undefined) assert.isAbove(page.next, next, "a page leads on");
    next = page.next;
  }
  return read;
}

async function walkList(get: (path: string) => Promise<Page>, path: string, limit: number): Promise<string[]> {
  const read: string[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const from: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page = await get(`${path}${path.includes("?") ? "&" : "?"}limit=${limit}${from}`);
    const runs = page.runs ?? assert.fail("no runs");
    assert.isAtMost(runs.length, limit);
    read.push(...runs.map(({ run }) => run));
    assert.isAtMost(read.length, 100, "the list comes to an end");
    cursor = page.cursor;
  }
  assert.equal(new Set(read).size, read.length, "no run twice");
  return read;
}
