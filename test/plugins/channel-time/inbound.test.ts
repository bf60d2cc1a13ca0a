import { createHmac } from "node:crypto";
import { type ClientRequest, request as httpRequest } from "node:http";
import { expect } from "chai";
import { type Log, silentLog } from "../../../src/core/ports/log.ts";
import type { Service } from "../../../src/host/service.ts";
import { SetClock, serviceOf, until } from "./world.ts";

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
      `server: { listen: 0, trustProxy: true }\nhooks: { gh: ${hook("github", ", events: [push]")}, pay: ${hook("stripe")}, chat: ${hook("slack", ', session: "{{body.title}}"')}, std: ${hook("standard")} }`,
      { clock },
    );
  });
  after(() => service.close());
  beforeEach(() => clock.set(now));

  const body = JSON.stringify({ id: "evt_1", event_id: "Ev1", title: "Deploy", list: [{ n: 7 }], type: "x" });
  let posts = 0;
  const post = async (name: string, headers: Record<string, string>, text = body) => {
    const response = await fetch(`${service.url}/v1/hooks/${name}`, {
      method: "POST",
      // Each from an address of its own: failures are counted by it.
      headers: { "content-type": "application/json", "x-forwarded-for": `10.0.0.${++posts % 256}`, ...headers },
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

describe("strangers at a hook", () => {
  let service: Service & { close(): Promise<void> };
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (message, fields) => lines.push(JSON.stringify([message, fields])) };
  const hook = `{ from: github, secret: ${secret}, agent: assistant, input: "{{body.a}}", maxBody: 2MiB }`;
  before(async () => {
    service = await serviceOf(`limits: { memory: 12MiB }\nhooks: { gh: ${hook} }`, { log });
  });
  after(() => service.close());
  const body = '{"a":"b"}';
  const post = async (signature: string, name = "gh") => {
    const headers = { "x-hub-signature-256": signature };
    const response = await fetch(`${service.url}/v1/hooks/${name}`, { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  };

  it("fill no log and are told to wait, whatever the name, while a signed delivery is taken", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 60; n++) statuses.push((await post(`sha256=${n}`, n % 2 === 0 ? "gh" : `x${n}`)).status);
    expect(new Set(statuses.slice(0, 20))).to.deep.equal(new Set([401]));
    expect(new Set(statuses.slice(20))).to.deep.equal(new Set([429]));
    expect((await post(`sha256=${hmac(body)}`)).status).to.equal(202);
    const told = lines.filter((line) => line.includes("127.0.0.1"));
    expect(told).to.have.length(1);
    expect(told[0]).to.include("hook gh: its signature is another one");
  });

  it("hold no more memory with bodies than the service has, and nothing of a tenant's share", async () => {
    const { memory } = service.host;
    const size = 2 * 1024 ** 2;
    const answered: number[] = [];
    const send = (): ClientRequest => {
      const headers = { "content-length": String(size), "content-type": "text/plain" };
      const request = httpRequest(`${service.url}/v1/hooks/gh`, { method: "POST", headers });
      request.on("response", (response) => answered.push(response.resume().statusCode ?? 0));
      return request;
    };
    const first = send();
    first.write("x".repeat(size - 1));
    await until(() => memory.held > 0);
    expect(memory.tenants.has("default")).to.equal(false);
    for (let n = 0; n < 7; n++) send().end("x".repeat(size));
    await until(() => answered.length === 7);
    expect(new Set(answered)).to.deep.equal(new Set([503]));
    first.end("x");
    await until(() => answered.length === 8);
    expect(answered.at(-1)).to.equal(429);
    await until(() => memory.held === 0);
  });
});
