import { createHash } from "node:crypto";
import { assert } from "chai";
import * as chat from "../plugins/openai/streams.ts";
import { type Gateway, gateway } from "./gateway.ts";

const path = "/openai/v1/chat/completions";
const sha = (key: string) => createHash("sha256").update(key).digest("hex");
const key = (id: string) => `{ id: ${id}, sha256: ${sha(id)}, may: [start, see, inspect] }`;

describe("a provider shared by tenants", () => {
  let open: Gateway;
  const ask = async (tenant: string, content: string, more: Record<string, unknown> = {}) => {
    const body = { model: "agent", messages: [{ role: "user", content }], ...more };
    const response = await open.post(path, body, { authorization: `Bearer ${tenant}` });
    return { status: response.status, text: await response.text() };
  };
  const breaker = async () => {
    const response = await fetch(`${open.url}/v1/service`, { headers: { authorization: "Bearer quiet" } });
    const { providers } = (await response.json()) as { providers: { breaker: string; open?: unknown[] }[] };
    return providers[0];
  };
  /** A connection that breaks within 5 s of a stall of this process counts for nothing; on a busy machine it stalls. */
  const opened = async (fail: () => Promise<unknown>, tenant: string) => {
    for (;;) {
      await fail();
      const { text } = await ask(tenant, "Hi");
      if (text.includes("circuit breaker is open")) return;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  };
  beforeEach(async () => {
    open = await gateway({
      provider: "openai",
      agents: "agents: { agent: { model: once }, other: { model: up/n } }",
      server: `, auth: { keys: [${["noisy", "loud", "quiet"].map(key).join(", ")}] }`,
      more: "models: { once: { chain: [up/m], retry: { max: 0 } } }",
      // What a request says decides how its model fares.
      answer: (response) => {
        const said = open.vendor.requests.at(-1)?.body ?? "";
        if (said.includes("break")) return void response.destroy();
        if (said.includes("fail")) return void response.writeHead(500).end("{}");
        response.writeHead(200, { "content-type": "text/event-stream" }).end(chat.text);
      },
    });
  });
  afterEach(() => open.close());

  for (const what of ["break", "fail"]) {
    it(`is closed by requests that ${what} to the tenant that sends them, and to nobody else`, async function () {
      this.timeout(180_000);
      await opened(async () => {
        const many = await Promise.all(Array.from({ length: 12 }, () => ask("noisy", what)));
        for (const { status } of many) assert.isAtLeast(status, 500);
      }, "noisy");
      assert.equal((await ask("quiet", "Hi")).status, 200);
      assert.equal((await ask("noisy", "Hi", { model: "other" })).status, 200, "another model");
      const [first, ...rest] = (await breaker())?.open ?? [];
      assert.deepInclude(first, { model: "m", state: "open", tenants: 1 });
      assert.isEmpty(rest);
    });
  }

  it("is closed to all when it fails several of them", async function () {
    this.timeout(180_000);
    const fail = (tenant: string) => Array.from({ length: 4 }, () => ask(tenant, "fail"));
    await opened(() => Promise.all(["noisy", "loud"].flatMap(fail)), "quiet");
    assert.deepInclude(await breaker(), { breaker: "open" });
  });
});
