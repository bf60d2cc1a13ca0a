import { createHash } from "node:crypto";
import { expect } from "chai";
import { Clock, systemClock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { provide } from "../../../src/core/values/token.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { createTelemetry, defaultSettings } from "../../../src/telemetry/index.ts";
import { testFolder } from "../folder.ts";

/** Ten seconds into a minute that does not end. */
const withinAMinute: Clock = { ...systemClock, now: () => Date.parse("2026-11-17T05:00:10Z") };

const sha = (key: string) => createHash("sha256").update(key).digest("hex");
const config = `
providers:
  demo:
    type: simulator
    pace: 0
    scenarios: [{ name: a, match: { text: hi }, turns: [{ text: ok, usage: { inputTokens: 90, outputTokens: 10 } }] }]
models: { main: { chain: [demo/m], options: { maxTokens: 10 } } }
agents: { a: { model: main } }
budgets:
  keys: { of: key, tokens: 1000, per: minute }
  users: { of: user, only: acme/ada, tokens: 500, per: minute }
channels: { http: {}, openai: {}, anthropic: {} }
journal: { type: memory }
server:
  listen: 0
  auth:
    keys:
      - { id: counted, tenant: acme, sha256: ${sha("counted")}, requestsPerMinute: 7 }
      - { id: free, tenant: acme, sha256: ${sha("free")} }
`;

const chat = { model: "a", messages: [{ role: "user", content: "hi" }], max_tokens: 10 };
const openai = ["/openai/v1/chat/completions", "/openai/v1/responses", "/openai/v1/completions"] as const;
const bodies: Record<string, object> = {
  "/openai/v1/chat/completions": chat,
  "/openai/v1/responses": { model: "a", input: "hi" },
  "/openai/v1/completions": { model: "a", prompt: "hi" },
  "/anthropic/v1/messages": chat,
};

describe("the vendors' rate-limit headers", () => {
  const folder = testFolder();
  let service: Service;
  beforeEach(async () => {
    service = await openService({
      configFile: folder.write({ "venturi.yaml": config }),
      env: {},
      log: silentLog,
      telemetry: await createTelemetry(defaultSettings, { log: silentLog }),
      replace: [provide(Clock, withinAMinute)],
    });
  });
  afterEach(() => service.drain());
  const ask = async (key: string, path: string, more: object = {}) => {
    const response = await fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...bodies[path], ...more }),
    });
    const text = await response.text();
    return { status: response.status, text, header: (name: string) => response.headers.get(name) };
  };
  const seconds = (reset: string | null) => Number(/^(\d+)s$/.exec(reset ?? "")?.[1]);

  it("tell what is left on answers too, whole and streamed, on each of OpenAI's paths", async () => {
    let used = 0;
    let asked = 0;
    for (const path of openai) {
      for (const stream of [false, true]) {
        const { status, header, text } = await ask("counted", path, { stream });
        expect(status, text).to.equal(200);
        asked += 1;
        const remaining = Number(header("x-ratelimit-remaining-tokens"));
        // A stream's headers are sent while its answer is only set aside: fewer tokens than it will use.
        if (stream) expect(1_000 - used - remaining, path).to.be.within(1, 100);
        used += 100;
        if (!stream) expect(remaining, path).to.equal(1_000 - used);
        expect(header("x-ratelimit-limit-tokens")).to.equal("1000");
        expect(header("x-ratelimit-reset-tokens")).to.equal("50s");
        expect(header("x-ratelimit-limit-requests")).to.equal("7");
        expect(header("x-ratelimit-remaining-requests")).to.equal(String(7 - asked));
        expect(seconds(header("x-ratelimit-reset-requests"))).to.be.within(1, 60);
        expect(header("anthropic-ratelimit-tokens-limit")).to.equal(null);
      }
    }
  });

  it("are Anthropic's own on its path, and a refusal of one limit tells the other too", async () => {
    for (const stream of [false, true]) {
      const { status, header } = await ask("counted", "/anthropic/v1/messages", { stream });
      expect(status).to.equal(200);
      expect(header("anthropic-ratelimit-tokens-limit")).to.equal("1000");
      expect(Number(header("anthropic-ratelimit-tokens-remaining"))).to.be.within(700, 999);
      expect(Date.parse(header("anthropic-ratelimit-tokens-reset") ?? "")).to.be.greaterThan(Date.now());
      expect(header("anthropic-ratelimit-requests-limit")).to.equal("7");
      expect(header("anthropic-ratelimit-requests-remaining")).to.equal(stream ? "5" : "6");
      expect(header("x-ratelimit-limit-tokens")).to.equal(null);
    }
    const counted = await ask("counted", "/anthropic/v1/messages/count_tokens", chat);
    expect(counted.header("anthropic-ratelimit-requests-remaining")).to.equal("4");
    for (const stream of [false, true]) {
      const refused = await ask("counted", "/anthropic/v1/messages", { stream, messages: [long] });
      expect([refused.status, refused.text]).to.satisfy(([status]: [number, string]) => status === 429);
      expect(refused.header("anthropic-ratelimit-tokens-limit")).to.equal("1000");
      expect(refused.header("anthropic-ratelimit-requests-remaining")).to.equal(stream ? "2" : "3");
    }
  });

  it("report the tightest limit; none for a key without one; nothing for reads", async () => {
    const { header } = await ask("free", "/openai/v1/chat/completions", { metadata: { user: "ada" } });
    expect([header("x-ratelimit-limit-tokens"), header("x-ratelimit-remaining-tokens")]).to.deep.equal(["500", "400"]);
    expect(header("x-ratelimit-limit-requests")).to.equal(null);
    const models = await fetch(`${service.url}/openai/v1/models`, { headers: { authorization: "Bearer counted" } });
    expect([...models.headers.keys()].filter((name) => name.includes("ratelimit"))).to.deep.equal([]);
    await models.text();
    const after = await ask("counted", "/openai/v1/chat/completions");
    expect(after.header("x-ratelimit-remaining-requests")).to.equal("6");
  });
});

const long = { role: "user", content: "word ".repeat(2_000) };
