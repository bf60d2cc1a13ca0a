import { gzipSync } from "node:zlib";
import { expect } from "chai";
import type { Cause } from "../../src/serve/why/causes.ts";
import { House, pause } from "./house.ts";
import { must, toolModule } from "./must.ts";
import { type Answer, chunk, good, json, StrangeServer, stream } from "./strange-server.ts";
import { sameTimes } from "./told.ts";

interface Strange {
  readonly cause: Cause;
  readonly says: readonly RegExp[];
  readonly answer?: Answer;
  /** Where no server of ours is asked. */
  readonly baseUrl?: string;
  readonly model?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly string[];
  /** Asked after this long, before it has ended. */
  readonly live?: { readonly after: number; readonly cause: Cause; readonly says: RegExp };
  readonly asked?: number;
}

const once = { retry: { max: 0 } };
const end = "data: [DONE]\n\n";
const calls = (name: string, input: object, id: number) =>
  chunk({
    tool_calls: [{ index: 0, id: `c${id}`, type: "function", function: { name, arguments: JSON.stringify(input) } }],
  }) + chunk({}, "tool_calls");
const send =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    json(response, status, body, headers);
const message = (text: string, rest: object = {}) => ({ error: { message: text, ...rest } });
const encoded =
  (encoding: string, body: Buffer): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": encoding });
    response.end(body);
  };
const html =
  (status: number, body: string): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "text/html" });
    response.end(body);
  };
const every =
  (ms: number, pieces: readonly string[], last?: string): Answer =>
  (response) => {
    stream(response);
    let next = 0;
    const timer = setInterval(() => {
      const piece = pieces[next++ % pieces.length] ?? "";
      if (last === undefined || next <= pieces.length) return response.write(piece);
      clearInterval(timer);
      return response.end(last);
    }, ms);
    response.once("close", () => clearInterval(timer));
  };

/** By the name of the provider, which is the first part of its path. */
const strange: Readonly<Record<string, Strange>> = {
  login: {
    answer: html(200, "<html><title>Sign in</title>"),
    cause: "not_the_provider",
    says: [/login\/m: the provider answered 200 with text\/html.*Sign in/],
    asked: 1,
  },
  hollow: {
    answer: (response) => stream(response, ""),
    model: once,
    cause: "empty_answer",
    says: [/hollow\/m: .*text\/event-stream and nothing in it/],
  },
  mute: {
    answer: (response) => stream(response, `${chunk({ role: "assistant" })}${chunk({}, "stop")}${end}`),
    cause: "empty_answer",
    says: [/mute\/m ended its answer without a word/],
  },
  comments: {
    answer: every(50, [": keep-alive\n\n"]),
    model: { timeout: { firstChunk: "2s" }, ...once },
    live: { after: 800, cause: "provider_slow", says: /now waits for the model.* first token of comments\/m/ },
    cause: "provider_silent",
    says: [/comments\/m: .*only comments, within 2000 ms/],
  },
  later: {
    answer: send(429, message("slow down"), { "retry-after": "600" }),
    cause: "rate_limited",
    says: [/later\/m: .*it asks to wait 600 s, and retry.longestWait is 60 s/],
    asked: 1,
  },
  elsewhere: {
    answer: send(429, message("slow down"), { "retry-after": "600" }),
    model: { chain: ["elsewhere/m", "fine/m"] },
    cause: "failover",
    says: [/elsewhere\/m failed \(rate_limited\) and fine\/m answered/],
    asked: 1,
  },
  fine: { answer: (response) => stream(response, good), cause: "nothing", says: [] },
  soon: {
    answer: (response, _request, times) =>
      times === 1 ? json(response, 429, message("slow down"), { "retry-after": "1" }) : stream(response, good),
    live: { after: 600, cause: "backoff", says: /waits before it asks the provider again/ },
    cause: "backoff",
    says: [/backoff after one 429 from soon\/m \(retry-after 1\.0 s\); then it answered/],
    asked: 2,
  },
  untrusted: {
    model: once,
    cause: "provider_unavailable",
    says: [/untrusted\/m: .*certificate is not signed by an authority that is trusted here/],
  },
  unknown: {
    baseUrl: "http://no-such-host.invalid/v1",
    model: once,
    cause: "provider_unavailable",
    says: [/unknown\/m: .*its host name is not known \(.*no-such-host\.invalid\)/],
  },
  closed: {
    baseUrl: "http://127.0.0.1:1/v1",
    model: once,
    cause: "provider_unavailable",
    says: [/closed\/m: .*nothing listens there/],
  },
  overloaded: {
    answer: send(200, message("the model is overloaded", { type: "overloaded_error" })),
    model: once,
    cause: "provider_unavailable",
    says: [/overloaded\/m: the provider reported an error: the model is overloaded/],
  },
  undeployed: {
    answer: send(200, message("no such deployment", { code: 404 })),
    model: once,
    cause: "model_missing",
    says: [/refused to serve undeployed\/m: .*no such deployment/],
  },
  crashes: {
    answer: (response) =>
      stream(
        response,
        `${chunk({ content: "so" })}data: ${JSON.stringify(message("CUDA out of memory", { code: 500 }))}\n\n`,
      ),
    model: once,
    cause: "provider_unavailable",
    says: [/crashes\/m: .*CUDA out of memory/],
  },
  halfopen: {
    answer: () => {},
    model: { timeout: { firstChunk: "1500ms" }, ...once },
    live: { after: 800, cause: "provider_slow", says: /now waits for the model/ },
    cause: "provider_silent",
    says: [/halfopen\/m: the provider sent no first chunk within 1500 ms/],
  },
  moved: {
    answer: (response, request) => {
      response.writeHead(302, { location: request.url ?? "" });
      response.end();
    },
    cause: "provider_moved",
    says: [/moved\/m: the provider redirects elsewhere \(302\).*set baseUrl/],
    asked: 1,
  },
  packed: {
    answer: encoded("gzip", gzipSync(good).subarray(0, 60)),
    model: once,
    cause: "unreadable_answer",
    says: [/packed\/m: .*content-encoding gzip, which was not asked for/],
  },
  garbled: {
    answer: (response) => stream(response, `${chunk({ content: "so" })}data: {"id": broken\n\n`),
    model: once,
    cause: "unreadable_answer",
    says: [/garbled\/m: the provider sent an event that is not valid JSON/],
  },
  overflow: {
    answer: send(
      400,
      message("This model's maximum context length is 8192 tokens.", { code: "context_length_exceeded" }),
    ),
    cause: "context_full",
    says: [/overflow\/m: .*maximum context length is 8192 tokens/],
  },
  broke: {
    answer: send(429, message("You exceeded your current quota", { code: "insufficient_quota" })),
    cause: "quota_exhausted",
    says: [/broke\/m: .*exceeded your current quota/],
    asked: 1,
  },
  unpaid: {
    answer: send(402, message("Insufficient credits")),
    cause: "quota_exhausted",
    says: [/unpaid\/m: .*402: Insufficient credits/],
  },
  gateway: {
    answer: html(502, "<html><title>502 Bad Gateway</title>"),
    model: once,
    cause: "provider_unavailable",
    says: [/gateway\/m: the provider answered 502/],
  },
  hangsup: {
    answer: (response, _request, times) => void (times < 3 ? response.socket?.destroy() : stream(response, good)),
    cause: "backoff",
    says: [/backoff after two failed connections from hangsup\/m; then it answered/],
    asked: 3,
  },
  resets: {
    answer: (response) => {
      stream(response);
      response.write(chunk({ content: "so" }));
      setTimeout(() => response.socket?.resetAndDestroy(), 100);
    },
    model: once,
    cause: "stream_cut",
    says: [/resets\/m: the provider's answer was cut short/],
  },
  starts: {
    answer: (response) => {
      stream(response);
      setTimeout(() => response.end(good), 1_500);
    },
    cause: "provider_slow",
    says: [/until the first token of starts\/m/],
  },
  trickles: {
    answer: every(
      800,
      [chunk({ content: "a" }), chunk({ content: "b" }), chunk({ content: "c" })],
      `${chunk({}, "stop")}${end}`,
    ),
    cause: "provider_stream",
    says: [/trickles\/m streamed its answer \(3 characters, 1 a second\)/],
  },
  repeats: {
    answer: (response, _request, times) => stream(response, `${calls("quick", { a: 1 }, times)}${end}`),
    tools: ["quick"],
    cause: "limit",
    says: [/kept repeating the same calls \(quick, \w+ times\)/],
  },
  misfits: {
    answer: (response, _request, times) => stream(response, `${calls("strict", { b: times }, times)}${end}`),
    tools: ["strict"],
    cause: "bad_arguments",
    says: [/limit of tool rounds/, /call of strict was rejected: .*required property 'a'/],
  },
  unreached: {
    answer: (response, _request, times) => stream(response, times > 1 ? good : `${calls("web", {}, times)}${end}`),
    tools: ["web"],
    cause: "tool_failed",
    says: [/tool web (ran and )?failed: .*fetch failed \(ECONNREFUSED\)/],
  },
};

const toolFile = [
  toolModule("quick", "call: () => 'same'"),
  toolModule("web", "call: async () => (await fetch('http://127.0.0.1:65534/')).text()"),
  "export const strict = { description: 's', parameters: { type: 'object', required: ['a'], properties: { a: { type: 'string' } }, additionalProperties: false }, call: () => 'ok' };\n",
].join("");
const names = Object.keys(strange);
const of = <T>(value: (name: string, problem: Strange) => T) =>
  Object.fromEntries(Object.entries(strange).map(([name, problem]) => [name, value(name, problem)]));

describe("a provider that misbehaves is named in a whole service, with the same times everywhere", function () {
  this.timeout(120_000);
  let server: StrangeServer;
  let tls: StrangeServer;
  let house: House;
  before(async () => {
    server = await StrangeServer.start(of((_name, { answer }) => answer ?? (() => {})));
    tls = await StrangeServer.start({ untrusted: (response) => stream(response, good) }, { tls: true });
    const urlOf = (name: string, { baseUrl }: Strange) => {
      if (name === "untrusted") return `https://127.0.0.1:${tls.port}/untrusted/v1`;
      return baseUrl ?? `http://127.0.0.1:${server.port}/${name}/v1`;
    };
    const module = (name: string) => ({ type: "module", path: "./tools.mjs", export: name });
    house = new House({
      config: {
        providers: of((name, problem) => ({ type: "openai", apiKey: "sk-of-the-test", baseUrl: urlOf(name, problem) })),
        models: Object.fromEntries(
          names.map((name) => [`m-${name}`, { chain: [`${name}/m`], ...strange[name]?.model }]),
        ),
        tools: Object.fromEntries(["quick", "web", "strict"].map((name) => [name, module(name)])),
        agents: of((name, { tools = [] }) => ({ model: `m-${name}`, tools: [...tools] })),
      },
      files: { "tools.mjs": toolFile },
    });
    await house.start();
  });
  after(async () => {
    await house?.close();
    server.close();
    tls.close();
  });

  for (const [name, { cause, says, live, asked }] of Object.entries(strange)) {
    it(`${name}: ${cause}`, async () => {
      const before = server.asked(name);
      const run = await house.run(name);
      if (live !== undefined) {
        await pause(live.after);
        must(await house.why(run), live.cause, live.says);
      }
      await house.ended(run);
      must(await sameTimes(house, run), cause, ...says);
      if (asked !== undefined) expect(server.asked(name) - before).to.equal(asked);
    });
  }
});
