import { createHmac } from "node:crypto";
import { setTimeout as pass } from "node:timers/promises";
import { expect } from "chai";
import { Lanes, space } from "../../../plugins/channel-time/lanes.ts";
import type { Service } from "../../../src/host/service.ts";
import { TestReceiver } from "./receiver.ts";
import { serviceOf, until } from "./world.ts";

const secret = "a-secret-of-the-receiver";

describe("webhooks", () => {
  let receiver: TestReceiver;
  let url: string;
  let service: Service & { folder: string; close(): Promise<void> };
  beforeEach(async () => {
    receiver = new TestReceiver();
    url = await receiver.open();
  });
  afterEach(async () => {
    await service?.close();
    await receiver.close();
  });
  const start = async (rest: object = {}, of: Service = service) => {
    const { run } = await of.host.runs.start({ agent: "assistant", input: { text: "Hello." }, ...rest });
    return run;
  };
  const values = () => service.host.journal.keyValues ?? expect.fail();

  it("are shown by their origin, and so are their failures: the path may be a secret", async () => {
    const to = new URL("/services/T000/path-secret?token=query-secret", url);
    receiver.answer = () => 410;
    service = await serviceOf(`webhooks: { crm: { url: "${to.href}", secret: ${secret}, attempts: 1 } }`);
    await service.host.runs.start({ agent: "assistant", input: { text: "Hello." } });
    const ask = async (path: string) => await (await fetch(`${service.url}/v1/webhooks${path}`)).text();
    const dead = await until(async () => {
      const text = await ask("/crm/dead");
      return text.includes("410") && text;
    });
    const shown = await ask("");
    expect(JSON.parse(shown).webhooks[0].url).to.equal(to.origin);
    expect(dead + shown).not.to.match(/path-secret|query-secret/);
  });

  it("tell the end of a run once, signed by Standard Webhooks, without what people and models wrote", async () => {
    service = await serviceOf(`webhooks: { crm: { url: "${url}", secret: ${secret} } }`);
    const run = await start({ input: { text: "my password is hunter2" }, metadata: { customer: "17" } });
    const [got] = await until(() => receiver.taken.length > 0 && receiver.taken);
    const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = got?.headers ?? {};
    const expected = createHmac("sha256", secret).update(`${id}.${timestamp}.${got?.text}`).digest("base64");
    expect(signature).to.equal(`v1,${expected}`);
    expect(got?.body.type).to.equal("run.finished");
    expect(got?.body.data).to.include({
      run,
      agent: "assistant",
      tenant: "default",
      status: "finished",
      finish: "stop",
    });
    expect(got?.text).not.to.match(/hunter2|customer|"output"/);
    expect(receiver.received).to.have.length(1);
  });

  it("include content only if configured, and never a secret", async () => {
    service = await serviceOf(`webhooks: { crm: { url: "${url}", secret: ${secret}, content: true } }`);
    await start({ metadata: { customer: "17", leaked: secret } });
    const [got] = await until(() => receiver.taken.length > 0 && receiver.taken);
    expect(got?.body.data.metadata).to.deep.equal({ customer: "17", leaked: "[secret 1]" });
    expect(got?.body.data.output).to.be.a("string");
    const { secret: _, ...shown } = { secret, text: got?.text ?? "" };
    expect(shown.text).not.to.contain(secret);
  });

  it("keep the order within a run: its question, the answer, its end", async () => {
    const events = "[question.asked, question.answered, run.finished]";
    service =
      await serviceOf(`webhooks: { crm: { url: "${url}", secret: ${secret}, retry: { first: 20ms }, events: ${events} } }
agents: { assistant: { model: demo/small, tools: [clock] } }
tools: { clock: { type: clock, approval: always } }`);
    let failures = 2;
    receiver.answer = () => (failures-- > 0 ? 500 : 200);
    const run = await start({ input: { text: "What time is it?" } });
    const [question] = await until(async () => {
      const pending = await service.host.runs.pending(run);
      return pending.length > 0 && pending;
    });
    await service.host.runs.signal(run, "approve", { call: question?.call ?? "", approved: true });
    await until(() => receiver.taken.length === 3);
    expect(receiver.taken.map(({ body }) => body.type)).to.deep.equal([
      "question.asked",
      "question.answered",
      "run.finished",
    ]);
    const seqs = receiver.taken.map(({ body }) => body.data.seq);
    expect(seqs).to.deep.equal([...seqs].sort((left, right) => left - right));
  });

  it("tell once that a budget is nearly and wholly used up, and what a run cost", async () => {
    const events = "[run.finished, run.failed, budget.reached]";
    service = await serviceOf(`webhooks: { crm: { url: "${url}", secret: ${secret}, events: ${events} } }
models: { main: { chain: [demo/small], options: { maxTokens: 10 } } }
agents: { assistant: { model: main } }
prices: { demo/small: { input: 1, output: 1 } }
budgets: { all: { of: service, tokens: 100, per: month } }`);
    let failed = 0;
    for (let runs = 0; runs < 20 && failed < 2; runs++) {
      const seen = receiver.taken.length;
      await start();
      await until(() => receiver.taken.slice(seen).some(({ body }) => body.type.startsWith("run.")));
      failed = receiver.taken.filter(({ body }) => body.type === "run.failed").length;
    }
    const told = receiver.taken.map(({ body }) => body);
    const reached = told.filter(({ type }) => type === "budget.reached").map(({ data }) => data);
    expect(reached.map(({ percent }) => percent)).to.deep.equal([80, 100].slice(-reached.length));
    expect(reached.at(-1)).to.deep.include({ budget: "all", of: "service", per: "month", limit: { tokens: 100 } });
    expect(failed).to.equal(2);
    expect(told[0]?.data.cost).to.be.greaterThan(0);
  });

  for (const [fault, answer] of [
    ["never answers", () => new Promise<number>(() => {})],
    ["fails", () => 500],
  ] as const) {
    it(`one tenant's receiver that ${fault} delays no other tenant's`, async () => {
      const bad = new TestReceiver();
      bad.answer = answer;
      const badUrl = await bad.open();
      const names = `["${new URL(url).host}", "${new URL(badUrl).host}"]`;
      const hosts = `hosts: ${names}, allowPrivate: ${names}`;
      service = await serviceOf(`webhooks:
  own: { secret: ${secret}, runs: notify, timeout: 1h, concurrency: 4, retry: { first: 1h, longest: 1h }, ${hosts} }`);
      const told = (to: string, tenant: string) =>
        service.host.runs.start(
          { agent: "assistant", input: { text: "Hello." }, notify: { webhook: "own", url: to } },
          { tenant },
        );
      const [first] = await Promise.all(Array.from({ length: 20 }, () => told(badUrl, "loud")));
      if (fault === "fails") await until(() => bad.received.length >= 5);
      const { run } = await told(url, "quiet");
      await until(() => receiver.taken.some(({ body }) => body.data.run === run));
      expect(receiver.received.map(({ body }) => body.data.run)).not.to.include(first?.run);
      await service.close();
      await bad.close();
    });
  }

  it("give up after their attempts, list the dead letter, and send it again on request under the same id", async () => {
    service = await serviceOf(`webhooks: { crm: { url: "${url}", secret: ${secret}, attempts: 1 } }`);
    receiver.answer = () => 503;
    const run = await start();
    const letters = async () => {
      const response = await fetch(`${service.url}/v1/webhooks/crm/dead`);
      return ((await response.json()) as { letters: { id: string; run: string; error: string }[] }).letters;
    };
    const [letter] = await until(async () => (await letters()).length > 0 && (await letters()));
    expect(letter).to.include({ run, error: "status 503" });
    receiver.answer = () => 200;
    const replay = await fetch(`${service.url}/v1/webhooks/crm/replay`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(await replay.json()).to.deep.equal({ replayed: 1 });
    await until(() => receiver.taken.length > 0);
    expect(receiver.taken[0]?.id).to.equal(letter?.id);
    expect(await letters()).to.deep.equal([]);
  });

  it("go on where the process before stopped, with nothing lost and nothing told twice", async () => {
    const yaml = `webhooks: { crm: { url: "${url}", secret: ${secret}, retry: { first: 20ms, longest: 100ms } } }\njournal: { type: sqlite, path: ./time.db }`;
    service = await serviceOf(yaml);
    const runs = [await start(), await start()];
    await until(() => receiver.taken.length === 2);
    receiver.answer = () => 500;
    for (let each = 0; each < 5; each++) runs.push(await start());
    await until(() => receiver.received.length > 3);
    await service.drain();
    receiver.answer = () => 200;
    const second = await serviceOf(yaml, { folder: service.folder });
    service = { ...second, folder: service.folder, close: second.close };
    runs.push(await start());
    await until(() => receiver.taken.length >= runs.length);
    expect(receiver.taken.map(({ body }) => body.data.run).sort()).to.deep.equal(runs.toSorted());
    expect(new Set(receiver.taken.map(({ id }) => id)).size).to.equal(runs.length);
  });

  it("tell nothing twice when a list of what is to be told comes late, after it was told", async () => {
    service = await serviceOf(`webhooks: { crm: { url: "${url}", secret: ${secret} } }`);
    const { page } = Lanes.prototype;
    Lanes.prototype.page = async function (...query) {
      const found = await page.apply(this, query);
      const open = found.filter(({ lane }) => lane.done !== true).map(({ lane }) => lane.run);
      const isTold = () => open.every((run) => receiver.taken.some(({ body }) => body.data.run === run));
      if (open.length > 0) await Promise.race([until(isTold), pass(200)]);
      await pass(20);
      return found;
    };
    const runs: string[] = [];
    for (let each = 0; each < 5; each++) {
      runs.push(await start());
      await pass(30);
    }
    await until(() => new Set(receiver.taken.map(({ body }) => body.data.run)).size === runs.length);
    await pass(300);
    Lanes.prototype.page = page;
    expect(receiver.received.map(({ body }) => body.data.run).sort()).to.deep.equal(runs.toSorted());
  });

  it("keep the answer to a delivery on its way while the service drains", async () => {
    const yaml = `webhooks: { crm: { url: "${url}", secret: ${secret} } }\njournal: { type: sqlite, path: ./time.db }`;
    service = await serviceOf(yaml);
    const draining = Promise.withResolvers<void>();
    let asked = false;
    receiver.answer = async () => {
      asked = true;
      await draining.promise;
      return 200;
    };
    const runs = [await start()];
    await until(() => asked);
    const drained = service.drain();
    setTimeout(draining.resolve, 300);
    await drained;
    const second = await serviceOf(yaml, { folder: service.folder });
    service = { ...second, folder: service.folder, close: second.close };
    runs.push(await start());
    await until(() => receiver.taken.length >= runs.length);
    expect(receiver.received.map(({ body }) => body.data.run)).to.deep.equal(runs);
  });

  it("are told of by runs that name them, where their host is allowed, and not of other runs", async () => {
    const host = new URL(url).host;
    service = await serviceOf(
      `webhooks: { own: { secret: ${secret}, runs: notify, hosts: ["${host}"], allowPrivate: ["${host}"] } }`,
    );
    await start();
    const run = await start({ notify: { webhook: "own", url } });
    await until(() => receiver.taken.length > 0);
    expect(receiver.taken.map(({ body }) => body.data.run)).to.deep.equal([run]);
    for (const notify of [
      { webhook: "own" },
      { webhook: "other" },
      { webhook: "own", url: "http://169.254.169.254/x" },
    ]) {
      const error = await start({ notify }).catch((thrown: { code: string }) => thrown);
      expect(error).to.include({ code: "invalid_input" });
    }
  });

  it("leave other agents and tenants out, and keep no trace of what was delivered but the cursor", async () => {
    service = await serviceOf(`webhooks: { crm: { url: "${url}", secret: ${secret}, agents: [other], tenants: [acme] } }
agents: { assistant: { model: demo/small }, other: { model: demo/small } }`);
    await start();
    await service.host.runs.start({ agent: "other", input: { text: "Hi." } });
    const { run } = await service.host.runs.start({ agent: "other", input: { text: "Hi." } }, { tenant: "acme" });
    await until(() => receiver.taken.length > 0);
    expect(receiver.taken.map(({ body }) => body.data.run)).to.deep.equal([run]);
    const lanes = new Lanes(values());
    const lane = await until(async () => {
      const found = await lanes.get("crm", run);
      return found?.lane.done && found;
    });
    expect(lane?.lane.pending).to.equal(undefined);
    expect((await values().list(space, { prefix: "lane/" })).length).to.equal(1);
  });

  it("do not delay runs: nobody waits for a receiver that never answers", async () => {
    service = await serviceOf(`webhooks: { crm: { url: "${url}", secret: ${secret}, concurrency: 2 } }`);
    receiver.answer = () => new Promise(() => {});
    for (let each = 0; each < 30; each++) {
      const run = await start();
      await until(async () => (await service.host.runs.get(run)).state === "done");
    }
    expect(receiver.received).to.have.length(0);
  });
});
