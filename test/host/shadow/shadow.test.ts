import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { keyedRunId } from "../../../src/core/run/run-id.ts";
import { shadowTenant } from "../../../src/core/run/shadow.ts";
import type { ShadowNote } from "../../../src/evals/shadow-note.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { isSampled } from "../../../src/host/shadow/shadows.ts";
import { notesOf } from "../../../src/journal/notes.ts";
import { Place } from "../../evals/place.ts";

/** `main` answers like `good`; its shadow like `other`. */
const withShadow = (place: Place, shadow: string, more = "") => {
  const before = place.read("venturi.yaml");
  place.write(
    "venturi.yaml",
    `${before.replace("model: demo/good", "model: main")}models:\n  main: { chain: [demo/good], shadow: ${shadow} }\n${more}`,
  );
};
const opened = (place: Place) => openHost({ configFile: place.file("venturi.yaml"), env: {}, log: silentLog });

async function ask(host: Host, amount: number, more: object = {}): Promise<string> {
  const { run } = await host.runs.start({ agent: "buyer", input: { text: `order ${amount}` }, ...more });
  for await (const _ of host.runs.follow(run));
  return run;
}

/** Polled: a note is no event that one could follow. */
async function noteOf(host: Host, run: string): Promise<ShadowNote> {
  for (;;) {
    const { shadow } = await notesOf(host.journal, await host.runs.get(run));
    if (shadow !== undefined) return shadow as ShadowNote;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
const shadowsOf = async (host: Host) => (await host.journal.list({ tenant: shadowTenant, limit: 200 })).runs;

/** Until shadows are as described. Polled: nobody is told of them. */
async function until(host: Host, isSo: (shadows: Awaited<ReturnType<typeof shadowsOf>>) => boolean): Promise<void> {
  while (!isSo(await shadowsOf(host))) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("the shadow of a model", () => {
  let place: Place;
  let host: Host;
  afterEach(async () => {
    await host.close();
    place.remove();
  });

  it("tries a live run again on another model: no tool is executed, and both are scored beside the run", async () => {
    place = new Place(4, (model, amount) => model === "bad" && amount === 2);
    withShadow(place, "{ model: demo/bad, share: 1, scorers: [exact, calls, { type: cost, max: 1 }] }");
    host = await opened(place);
    const [same, other] = [await ask(host, 1), await ask(host, 2)];
    const notes = [await noteOf(host, same), await noteOf(host, other)];
    expect(notes.map(({ shadow }) => shadow.scores)).to.deep.equal([
      { exact: { score: 1 }, calls: { score: 1 }, cost: { score: 1 } },
      { exact: { score: 0, why: "another answer" }, calls: { score: 1 }, cost: { score: 1 } },
    ]);
    expect(notes[1]).to.deep.include({ model: "main", by: "demo/bad" });
    expect(notes[1]?.live.output).to.equal("done: 2");
    expect(notes[1]?.shadow.output).to.equal("I cannot");
    expect(place.orders).to.equal(2);
    const [shadow] = await shadowsOf(host);
    expect(shadow?.digest?.models).to.deep.equal(["demo/bad"]);
    expect(shadow?.request).to.deep.include({ shadow: "main" }).and.not.to.have.any.keys("session", "user", "caller");
  });

  it("is hidden: not in lists, searches, the feed or figures, and accepts no feedback", async () => {
    place = new Place(2);
    withShadow(place, "{ model: demo/a, share: 1 }");
    host = await opened(place);
    const items: string[] = [];
    const stop = new AbortController();
    const feed = (async () => {
      for await (const batch of host.runs.feed({ signal: stop.signal }))
        for (const item of batch) if ("run" in item) items.push(item.run);
    })();
    const live = await ask(host, 1);
    const { shadow } = await noteOf(host, live);
    stop.abort();
    await feed;
    expect(new Set(items)).to.deep.equal(new Set([live]));
    for (const query of [{}, { state: "done" as const }, { text: "order" }, { sort: "longest" as const }, { limit: 1 }])
      expect((await host.runs.list(query)).runs.map(({ run }) => run)).to.deep.equal([live]);
    expect((await shadowsOf(host)).map(({ run }) => run)).to.deep.equal([shadow.run]);
    const refused = await host.runs.giveFeedback(shadow.run, { score: 1 }).catch((thrown: unknown) => thrown);
    expect(refused).to.have.property("code", "invalid_input");
    const byTenant = await host.runs.usage({ by: ["tenant"] });
    expect(byTenant.map(({ tenant }) => tenant)).to.deep.equal([shadowTenant, "default"]);
  });

  it("has a budget of its own, spends nothing of others, and stops when it is used up", async () => {
    place = new Place(9);
    const one = 1_000_000_000;
    withShadow(
      place,
      "{ model: demo/a, share: 1, budget: { tokens: 1150, per: month } }",
      `budgets: { all: { of: service, tokens: ${one}, per: month }, agents: { of: agent, tokens: ${one}, per: month } }\n`,
    );
    host = await opened(place);
    for (let amount = 0; amount < 9; amount++) await ask(host, amount);
    await until(host, (shadows) => shadows.some(({ digest }) => digest?.code === "budget_exceeded"));
    await until(host, (shadows) => shadows.every(({ state }) => state === "done"));
    const shadows = await shadowsOf(host);
    const codes = shadows.map(({ digest }) => digest?.code);
    expect(codes.filter((code) => code === undefined).length).to.be.within(1, 8);
    // Those made together may all be refused; none is made after that.
    expect(codes.filter((code) => code === "budget_exceeded").length).to.be.within(1, 8);
    const spent = shadows.reduce((sum, { digest }) => sum + (digest?.usage.outputTokens ?? 0), 0);
    expect(spent).to.be.at.most(1_150);
  });

  it("is not made of forks, called agents or cancelled runs", async () => {
    place = new Place(3);
    withShadow(place, "{ model: demo/a, share: 1 }");
    host = await opened(place);
    const live = await ask(host, 1);
    await noteOf(host, live);
    const { run } = await host.runs.fork(live, { after: 1 });
    for await (const _ of host.runs.follow(run));
    // Made after all that were chosen before.
    await noteOf(host, await ask(host, 2));
    expect((await shadowsOf(host)).map(({ request }) => request.fork?.run)).not.to.include(run);
    expect(await shadowsOf(host)).to.have.length(2);
  });

  it("is left for the next process by one that died, and made once", async () => {
    place = new Place(3);
    withShadow(place, "{ model: demo/a, share: 1 }");
    host = await openHost({ configFile: place.file("venturi.yaml"), env: {}, log: silentLog, shadows: false });
    const live = await ask(host, 1);
    await host.close();
    host = await opened(place);
    const other = await opened(place);
    try {
      expect((await noteOf(host, live)).shadow.scores.exact).to.deep.equal({ score: 1 });
      expect(await shadowsOf(host)).to.have.length(1);
    } finally {
      await other.close();
    }
  });

  it("is finished by the next process, and not begun again, if one died in the middle of it", async () => {
    place = new Place(3);
    withShadow(place, "{ model: demo/a, share: 1 }");
    host = await openHost({ configFile: place.file("venturi.yaml"), env: {}, log: silentLog, shadows: false });
    const live = await ask(host, 1);
    // As the killed process has left it: stored without events.
    const { request } = await host.runs.get(live);
    const fork = { run: live, after: 1, tools: "recorded", unanswered: "fail" } as const;
    const run = keyedRunId(shadowTenant, `shadow:${live}:${live}:1`);
    const shadow = { ...request, shadow: "main", fork };
    await host.journal.enqueue({ run, tenant: shadowTenant, session: undefined, request: shadow });
    await host.close();
    host = await opened(place);
    expect((await noteOf(host, live)).shadow).to.include({ run, ok: true });
    expect((await shadowsOf(host)).map((row) => row.run)).to.deep.equal([run]);
    const [first] = await host.journal.read(run, 0, 1);
    expect(first).to.deep.include({ type: "run.started", fork: { run: live, after: 1 } });
    expect(place.orders).to.equal(1);
  });

  it("is drawn by the run's id: the same everywhere, and its share of runs", () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => `run_${index.toString(36)}`);
    const chosen = ids.filter((id) => isSampled(id, 0.05));
    expect(chosen.length).to.be.within(900, 1_100);
    expect(ids.filter((id) => isSampled(id, 0.05))).to.deep.equal(chosen);
    // A larger share has all of a smaller one.
    expect(chosen.every((id) => isSampled(id, 0.1))).to.equal(true);
  });
});
