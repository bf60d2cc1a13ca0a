import { expect } from "chai";
import type { Service } from "../../../src/host/service.ts";
import { keyOf } from "../../service.ts";
import { TestReceiver } from "./receiver.ts";
import { serviceOf, until } from "./world.ts";

const may = "[see, steer, inspect]";
const keys = `
  auth:
    keys:
      - { id: acme, sha256: ${keyOf("", "acme").sha256}, may: ${may} }
      - { id: other, tenant: acme, agents: [b], sha256: ${keyOf("", "other").sha256}, may: ${may} }
      - { id: anyone, sha256: ${keyOf("", "anyone").sha256}, may: ${may} }
      - { id: same, tenant: default, sha256: ${keyOf("", "same").sha256}, may: ${may} }
      - { id: watcher, tenants: all, sha256: ${keyOf("", "watcher").sha256}, may: ${may} }
      - { id: chief, tenants: all, act: all, sha256: ${keyOf("", "chief").sha256}, may: ${may} }
`;

describe("dead letters", () => {
  let receiver: TestReceiver;
  let service: Service & { close(): Promise<void> };
  beforeEach(async () => {
    receiver = new TestReceiver();
    const url = await receiver.open();
    receiver.answer = () => 410;
    service = await serviceOf(
      `agents: { a: { model: demo/small }, b: { model: demo/small } }\nserver:\n  listen: 0${keys}` +
        `channels: { time: { webhooks: { crm: { url: "${url}", secret: a-secret-of-the-receiver } } } }\n`,
    );
  });
  afterEach(async () => {
    await service.close();
    await receiver.close();
  });

  const ask = async (key: string, path: string, method = "GET") => {
    const body = method === "POST" ? { body: "{}" } : {};
    const type = method === "POST" ? { "content-type": "application/json" } : {};
    const headers = { authorization: `Bearer ${key}`, ...type };
    const response = await fetch(`${service.url}/v1/webhooks${path}`, { method, headers, ...body });
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
  };
  const seenBy = async (key: string): Promise<string[]> =>
    (await ask(key, "/crm/dead")).body.letters.map(({ id }: { id: string }) => id);

  it("are seen, dropped and sent again by keys of their tenant and agent, whatever the key is called", async () => {
    await service.host.runs.start({ agent: "a", input: { text: "Hello." } }, { tenant: "acme" });
    const [id] = await until(async () => (await seenBy("acme")).length > 0 && (await seenBy("acme")));
    for (const key of ["other", "anyone", "same"]) expect(await seenBy(key), key).to.deep.equal([]);
    expect(await seenBy("watcher")).to.deep.equal([id]);
    for (const key of ["other", "anyone", "same", "watcher"]) {
      expect((await ask(key, "/crm/replay", "POST")).body, key).to.deep.equal({ replayed: 0 });
      expect((await ask(key, `/crm/dead/${id}`, "DELETE")).status, key).to.equal(404);
    }
    expect((await ask("chief", `/crm/dead/${id}`, "DELETE")).status).to.equal(204);
    expect(await seenBy("acme")).to.deep.equal([]);
  });

  it("of another tenant fill no page, are no cursor, and leave none behind when all are sent again", async () => {
    const values = service.host.journal.keyValues;
    const bury = async (tenant: string, number: number) => {
      const id = `msg_${tenant}_${String(number).padStart(4, "0")}`;
      const message = { id, place: 1, type: "run.failed", tenant, body: "{}" };
      const letter = { webhook: "crm", run: tenant, tenant, message, attempts: 1, error: "status 410", at: 1 };
      await values?.put("webhooks", { key: `dead/crm/${id}`, value: JSON.stringify(letter), version: 0 });
    };
    for (let number = 0; number < 1_001; number++) await bury("a", number);
    for (let number = 0; number < 51; number++) await bury("acme", number);
    const { letters, cursor } = (await ask("acme", "/crm/dead")).body;
    expect([letters.length, cursor]).to.deep.equal([50, "msg_acme_0049"]);
    const rest = (await ask("acme", `/crm/dead?cursor=${cursor}`)).body;
    expect(rest.letters.map(({ id }: { id: string }) => id)).to.deep.equal(["msg_acme_0050"]);
    expect(rest).not.to.have.property("cursor");
    expect((await ask("anyone", "/crm/dead")).body).to.deep.equal({ letters: [] });
    expect((await ask("acme", "/crm/replay", "POST")).body).to.deep.equal({ replayed: 51 });
  });

  it("and where they go: the path of the URL, which may be what a receiver knows its senders by, is shown to nobody", async () => {
    const shownTo = async (key: string): Promise<string> => (await ask(key, "")).body.webhooks[0].url;
    for (const key of ["acme", "watcher"]) expect(await shownTo(key), key).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
});
