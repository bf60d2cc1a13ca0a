import { createHmac } from "node:crypto";
import { expect } from "chai";
import type { Service } from "../../../src/host/service.ts";
import { SetClock, serviceOf } from "./world.ts";

const secret = "hook-secret-0123456789";
const now = Date.UTC(2026, 5, 1, 12);
const seconds = String(now / 1_000);
const hmac = (text: string, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", secret).update(text).digest(encoding);

describe("a hook of another system", () => {
  let service: Service & { close(): Promise<void> };
  const clock = new SetClock(now);
  before(async () => {
    const hook = (from: string, rest = "") =>
      `{ from: ${from}, secret: ${secret}, agent: assistant, input: "{{body.title}}: {{body.list.0.n}} {{headers.x-github-event}}"${rest} }`;
    service = await serviceOf(
      `hooks: { gh: ${hook("github", ", events: [push]")}, pay: ${hook("stripe")}, chat: ${hook("slack", ', session: "{{body.title}}"')}, std: ${hook("standard")} }`,
      { clock },
    );
  });
  after(() => service.close());
  beforeEach(() => clock.set(now));

  const body = JSON.stringify({ id: "evt_1", event_id: "Ev1", title: "Deploy", list: [{ n: 7 }], type: "x" });
  const post = async (name: string, headers: Record<string, string>, text = body) => {
    const response = await fetch(`${service.url}/v1/hooks/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: text,
    });
    return {
      status: response.status,
      body: (await response.json()) as { run: string; existing: boolean; error?: { code: string } },
    };
  };
  const signed: Record<string, (text?: string, at?: string) => Record<string, string>> = {
    gh: (text = body) => ({
      "x-hub-signature-256": `sha256=${hmac(text)}`,
      "x-github-event": "push",
      "x-github-delivery": "d1",
    }),
    pay: (text = body, at = seconds) => ({
      "stripe-signature": `t=${at},v1=${"0".repeat(64)},v1=${hmac(`${at}.${text}`)},v0=ff`,
    }),
    chat: (text = body, at = seconds) => ({
      "x-slack-request-timestamp": at,
      "x-slack-signature": `v0=${hmac(`v0:${at}:${text}`)}`,
    }),
    std: (text = body, at = seconds) => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": at,
      "webhook-signature": `v1a,x v1,${hmac(`msg_1.${at}.${text}`, "base64")}`,
    }),
  };

  for (const name of ["gh", "pay", "chat", "std"]) {
    const sign: (text?: string, at?: string) => Record<string, string> = signed[name] ?? (() => ({}));

    it(`${name}: starts one run for a delivery that comes twice, with its template filled in`, async () => {
      const first = await post(name, sign());
      expect(first.status).to.equal(202);
      const again = await post(name, { ...sign(), "x-github-delivery": "another" });
      expect(again.body).to.deep.equal({ run: first.body.run, existing: true });
      const row = await service.host.runs.get(first.body.run);
      expect(row.request.input.text).to.equal(`Deploy: 7 ${name === "gh" ? "push" : ""}`);
      expect(row.request.metadata).to.include({ hook: name });
    });

    it(`${name}: refuses a body that was changed, another secret, no signature, and a name that is not there, alike`, async () => {
      const answers = [
        await post(name, sign(), body.replace("Deploy", "Destroy")),
        await post(
          name,
          Object.fromEntries(
            Object.entries(sign()).map(([key, value]) => [
              key,
              value.replaceAll(/[0-9a-f]{64}|[\w+/]{43}=/g, (text) => "A".repeat(text.length)),
            ]),
          ),
        ),
        await post(name, {}),
        await post("nothing", sign()),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 401, 401]);
      expect(new Set(answers.map(({ body: { error } }) => JSON.stringify(error))).size).to.equal(1);
    });

    if (name !== "gh") {
      it(`${name}: refuses a copy from outside the window, from the future too, and a time that is no number`, async () => {
        clock.set(now + 5 * 60_000 + 2_000);
        expect((await post(name, sign())).status).to.equal(401);
        clock.set(now - 5 * 60_000 - 2_000);
        expect((await post(name, sign())).status).to.equal(401);
        clock.set(now);
        expect((await post(name, sign(body, "1e9"))).status).to.equal(401);
        expect((await post(name, sign(body, ""))).status).to.equal(401);
      });
    }
  }

  it("answers Slack's question whether the address is ours", async () => {
    const text = JSON.stringify({ type: "url_verification", challenge: "abc" });
    const response = await post("chat", signed.chat?.(text) ?? {}, text);
    expect(response).to.deep.equal({ status: 200, body: { challenge: "abc" } });
  });

  it("ignores event types that are not configured, and refuses signed bodies that are not JSON", async () => {
    const ping = await post("gh", { ...signed.gh?.(), "x-github-event": "ping" });
    expect(ping.status).to.equal(200);
    const text = '{"__proto__": {}}';
    expect((await post("std", signed.std?.(text) ?? {}, text)).status).to.equal(400);
  });
});
