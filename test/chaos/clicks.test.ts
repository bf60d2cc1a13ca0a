import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import { TestReceiver } from "../plugins/channel-time/receiver.ts";
import { readSse } from "../sse.ts";
import { Replica } from "./replica.ts";

/** The run's process is killed when the other one sees this event. */
const points = ["approval.requested", "approval.resolved", "tool.started", "tool.finished", "run.finished"] as const;

const post = (url: string, body: object) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify(body),
  });

describe("an approval that is clicked at two processes at once, whose run's process is killed", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-clicks-"));
  const effects = join(folder, "effects");
  const receiver = new TestReceiver();
  const replicas: Replica[] = [];
  after(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startReplica(name: string, webhook: string): Promise<Replica> {
    const events = ["question.asked", "question.answered", "run.finished"];
    const retry = { first: "100ms", longest: "1s" };
    const all = { url: webhook, secret: "a-secret-for-trying-out", events, retry };
    const replica = await Replica.make(name, {
      folder,
      effects,
      journal: { type: "sqlite", path: join(folder, "runs.db"), lease: "1s" },
      toolTime: 300,
      wedged: 0,
      sections: { channels: { http: {}, time: { webhooks: { all } } } },
    });
    replicas.push(replica);
    await replica.start();
    return replica;
  }

  /** Follows the run at the other process until it has ended, and answers what is asked at both. */
  async function live(here: Replica, there: Replica, point: (typeof points)[number]) {
    const { run } = (await (await post(`${here.url}/v1/runs`, { agent: "shop", input: "approval" })).json()) as {
      run: string;
    };
    const events: RunEvent[] = [];
    const clicks: Promise<(number | undefined)[]>[] = [];
    let killed: Promise<void> | undefined;
    const stream = await fetch(`${there.url}/v1/runs/${run}/events`, { headers: { accept: "text/event-stream" } });
    for await (const { data } of readSse(stream.body)) {
      const event = JSON.parse(data) as RunEvent; // as the service wrote it
      events.push(event);
      if (event.type === point) killed ??= here.kill();
      if (event.type !== "approval.requested") continue;
      const click = ({ url }: Replica, since = event.at) =>
        post(`${url}/v1/runs/${run}/approvals/${event.call}`, { approved: true, since }).then(
          ({ status }) => status,
          () => undefined, // It was killed.
        );
      // Of somebody who has not heard of the answer, and not of the crash either.
      const [first] = events.filter(({ type }) => type === "approval.requested");
      if (first !== undefined && first !== event) expect(await click(there, first.at)).to.equal(409);
      clicks.push(Promise.all([click(here), click(there)]));
    }
    await killed;
    await here.start();
    return { run, events, clicks: await Promise.all(clicks) };
  }

  it("runs the tool once for each approval, takes one click, and tells webhooks of each event under one id", async () => {
    // The receiver takes every message at the second try.
    const tried = new Set<string>();
    receiver.answer = ({ id }) => {
      if (tried.has(id)) return 200;
      tried.add(id);
      return 500;
    };
    const webhook = await receiver.open();
    const [a, b] = [await startReplica("a", webhook), await startReplica("b", webhook)];
    const messages = new Set<string>();
    for (const [at, point] of points.entries()) {
      const { run, events, clicks } = await live(...(at % 2 === 0 ? ([a, b] as const) : ([b, a] as const)), point);
      const count = (type: RunEvent["type"]) => events.filter((event) => event.type === type).length;
      expect(events.filter(isTerminal), point).to.have.length(1);
      expect(events.at(-1)?.type, point).to.equal("run.finished");
      if (point === "tool.started") expect(clicks, "asked again, since it may have run").to.have.length(2);
      for (const statuses of clicks) {
        expect(statuses.filter((status) => status === 202).length, `${point} ${statuses}`).to.be.at.most(1);
        for (const status of statuses) expect([202, 409, undefined], point).to.include(status);
      }
      const lines = readFileSync(effects, "utf8").split("\n");
      const done = lines.filter((line) => line.includes(run)).length;
      expect(done, point).to.be.within(1, count("approval.resolved"));
      for (const event of events) {
        if (/^approval\.|^run\.finished/.test(event.type)) messages.add(`${run} ${event.seq}`);
      }
    }
    const placeOf = ({ body }: { body: { data: { run: string; seq: number } } }) => `${body.data.run} ${body.data.seq}`;
    while (new Set(receiver.taken.map(placeOf)).size < messages.size) await new Promise((soon) => setTimeout(soon, 50));
    expect(new Set(receiver.taken.map(placeOf))).to.deep.equal(messages);
    expect(new Set(receiver.received.map((each) => `${placeOf(each)} ${each.id}`)).size).to.equal(messages.size);
  });
});
