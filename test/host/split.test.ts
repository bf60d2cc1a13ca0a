import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { type Host, openHost } from "../../src/host/open.ts";
import { readHistory } from "../../src/journal/history.ts";
import { Place } from "../evals/place.ts";

const split = (weights: string) =>
  `models:\n  main: { split: ${weights} }\n  a: { chain: [demo/a], options: { temperature: 0 } }\n  b: { chain: [demo/b, demo/good], choose: weighted }\n`;
const opened = (place: Place) => openHost({ configFile: place.file("venturi.yaml"), env: {}, log: silentLog });

/** What a session of this name got, and why. */
async function chosen(host: Host, session: string | undefined) {
  const of = session === undefined ? {} : { session };
  const { run } = await host.runs.start({ agent: "buyer", input: { text: "order 1" }, ...of });
  for await (const _ of host.runs.follow(run));
  const events = await readHistory(host.journal, await host.runs.get(run));
  const started = events.flatMap((event) => (event.type === "round.started" ? [event] : []));
  expect(new Set(started.map((event) => event.split?.chose)).size).to.equal(1);
  return { member: started[0]?.split?.chose, of: started[0]?.split?.of, reason: started[0]?.reason, run };
}

describe("a split of models", () => {
  let place: Place;
  let before: string;
  beforeEach(() => {
    place = new Place(2);
    before = place.read("venturi.yaml").replace("model: demo/good", "model: main");
    place.write("venturi.yaml", before + split("{ a: 50, b: 50 }"));
  });
  afterEach(() => place.remove());

  it("gives a session one member, on every replica, over restarts and reloads that keep the weights", async () => {
    const sessions = Array.from({ length: 12 }, (_, index) => `s${index}`);
    const [one, two] = [await opened(place), await opened(place)];
    const first = await Promise.all(sessions.map((session) => chosen(one, session)));
    const members = first.map(({ member }) => member);
    expect(new Set(members)).to.deep.equal(new Set(["a", "b"]));
    expect(first[members.indexOf("a")]?.reason).to.equal("split: a has 50 of 100 in main, drawn by the session");
    expect(first[members.indexOf("b")]?.reason).to.match(/^split: b has 50 of 100 in main, drawn by the session; /);
    const again = await Promise.all(sessions.map((session) => chosen(two, session)));
    expect(again.map(({ member }) => member)).to.deep.equal(members);
    place.write("venturi.yaml", before.replace("Orders something", "Orders") + split("{ b: 5, a: 5 }"));
    expect((await one.reload()).ok).to.equal(true);
    const reloaded = await Promise.all(sessions.map((session) => chosen(one, session)));
    expect(reloaded.map(({ member }) => member)).to.deep.equal(members);
    expect((await chosen(one, undefined)).reason).to.include("drawn by the run");
    await Promise.all([one.close(), two.close()]);
  });

  it("is compared over all runs: times, tokens, costs, ratings and failures, with intervals", async () => {
    const host = await opened(place);
    const seen: string[] = [];
    for (const session of Array.from({ length: 10 }, (_, index) => `s${index}`)) {
      const { member, run } = await chosen(host, session);
      seen.push(member ?? "");
      await host.runs.giveFeedback(run, { score: member === "a" ? 5 : 1 });
    }
    await host.close();
    const { out, err, code } = await place.venturi("compare", "--split", "main");
    expect(code, err).to.equal(0);
    const [head, runs, sessions, ...rows] = out.trim().split("\n");
    const [most, least] = ["a", "b"].sort(
      (left, right) => seen.filter((each) => each === right).length - seen.filter((each) => each === left).length,
    );
    expect(head).to.match(new RegExp(`^main +${most} +${least} +difference +95 % interval`));
    const counts = [most, least].map((member) => seen.filter((each) => each === member).length);
    expect(runs).to.match(new RegExp(`^runs +${counts[0]} +${counts[1]}$`));
    expect(sessions).to.match(new RegExp(`^sessions +${counts[0]} +${counts[1]}$`));
    expect(rows.map((row) => row.split(/ {2,}/)[0])).to.deep.equal([
      "time, ms",
      "tokens",
      "cost, USD",
      "rating",
      "failed",
    ]);
    expect(rows[3]).to.match(/rating +\d\.00 +\d\.00 +[+-]4\.00 +[+-]4\.00 … [+-]4\.00 +differs/);
    expect(rows[4]).to.match(/failed +0\.000 +0\.000 +\+0\.000 +\+0\.000 … \+0\.000$/);
    expect((await place.venturi("compare", "--split", "none")).code).not.to.equal(0);
    expect((await place.venturi("compare", "run_1")).code).to.equal(2);
  });

  it("is refused where it has no effect, with line and column", async () => {
    const refusal = async (models: string) => {
      place.write("venturi.yaml", before + models);
      const thrown: unknown = await opened(place).catch((error: unknown) => error);
      const lines = (thrown as Error).message.split("\n");
      return lines.map((line) => line.slice(line.lastIndexOf("venturi.yaml:") + "venturi.yaml:".length));
    };
    const line = before.split("\n").length + 1;
    const of = async (entry: string) => await refusal(`models:\n  main: ${entry}\n  a: { chain: [demo/a] }\n`);
    expect(await of("{ split: { a: 0, a2: 10 } }")).to.deep.equal([
      `${line}:23 models.main.split.a: a weight must be more than 0`,
      `${line}:26 models.main.split.a2: "a2" is neither an entry of models nor provider/model (did you mean "a"?)`,
    ]);
    expect(await of("{ split: { a: x, none/m: 1 } }")).to.deep.equal([
      `${line}:23 models.main.split.a: expected a number, found a text`,
      `${line}:26 models.main.split.none/m: "none" is not among the providers`,
    ]);
    expect(await of("{ split: { a: 1 } }")).to.deep.equal([`${line}:18 models.main.split: a split needs two members`]);
    expect(await of("{ split: { a: 1, main: 1 } }")).to.deep.equal([
      `${line}:26 models.main.split.main: "main" is a split itself`,
    ]);
    expect(await of("{ split: { a: 1, demo/b: 1 }, retry: { max: 1 } }")).to.deep.equal([
      `${line}:39 models.main.retry: a split has no retry of its own: give it to its members`,
    ]);
    expect(await of("{ failover: never }")).to.deep.equal([`${line}:9 models.main: name at least one provider/model`]);
  });
});
