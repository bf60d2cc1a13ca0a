import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { openHost } from "../../src/host/open.ts";
import { sourceOf } from "../../src/serve/why/source.ts";
import { explainRun } from "../../src/serve/why/why.ts";
import { testFolder } from "../host/folder.ts";

const token = "c2Vzc2lvbi10b2tlbi1vZi10aGUtcHJveHk";
const page = `<!doctype html>\n<html><head><title>Sign in</title></head><body><form><input value="${token}"></form>`;
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const good = `${chunk({ role: "assistant", content: "fine" })}${chunk({}, "stop")}data: [DONE]\n\n`;

const stream = (response: ServerResponse, body: string) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(body);
};

describe("answers that are none", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let server: Server;
  let answers: (response: ServerResponse) => void;
  let asked = 0;
  before(async () => {
    server = createServer((request, response) => {
      request.resume();
      asked += 1;
      answers(response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const run = async (
    answer: (response: ServerResponse) => void,
    model: Record<string, unknown> = {},
    options: Record<string, unknown> = {},
  ) => {
    answers = answer;
    asked = 0;
    const { port } = server.address() as AddressInfo;
    const config = {
      providers: {
        gpt: { type: "openai", apiKey: "sk-of-the-test", baseUrl: `http://127.0.0.1:${port}/v1`, ...options },
      },
      models: { main: { chain: ["gpt/m"], retry: { max: 2 }, ...model } },
      agents: { one: { model: "main" } },
      journal: { type: "memory" },
      channels: {},
      telemetry: "off",
    };
    writeFileSync(folder.path("venturi.yaml"), JSON.stringify(config));
    const configFile = folder.path("venturi.yaml");
    const host = await openHost({ configFile, log: silentLog, telemetry: noTelemetry });
    try {
      const { run: id } = await host.runs.start({ agent: "one", input: { text: "go" } });
      const events: RunEvent[] = [];
      for await (const batch of host.runs.follow(id)) events.push(...batch);
      const why = await explainRun(sourceOf(host.runs), id);
      return { last: events.at(-1), why, events };
    } finally {
      await host.close();
    }
  };

  it("a login page with status 200 is named with its content type and first bytes, without its tokens, and is asked once", async () => {
    for (const type of ["text/html", "Text/HTML; charset=utf-8"]) {
      const { last, why } = await run((response) => {
        response.writeHead(200, { "content-type": type });
        response.write(page); // and it never ends
        response.write(" ".repeat(600));
      });
      expect(why.cause).to.equal("not_the_provider");
      expect(last).to.have.nested.property("error.code", "unavailable");
      const { error } = last as { error: { err: string } };
      expect(error.err)
        .to.match(/answered 200 with text\/html.*<title>Sign in<\/title>/i)
        .and.not.to.contain(token);
      expect(asked).to.equal(1);
    }
    const send = (response: ServerResponse) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end(page);
    };
    for (const options of [
      { stream: false },
      { type: "anthropic" },
      { type: "gemini" },
      { type: "ollama" },
      { type: "openai-responses" },
    ]) {
      const { why, last } = await run(send, {}, options);
      expect(why.cause, JSON.stringify([options, last])).to.equal("not_the_provider");
      expect(JSON.stringify(last)).to.contain("Sign in").and.not.to.contain(token);
    }
  });

  it("an empty body is an empty answer, and text that is no stream is shown", async () => {
    const empty = await run((response) => stream(response, ""), { retry: { max: 0 } });
    expect(empty.why.cause).to.equal("empty_answer");
    expect(empty.last).to.have.nested.property("error.err").that.contains("text/event-stream and nothing in it");
    const plain = await run(
      (response) => {
        response.writeHead(200, { "content-type": "text/plain" });
        response.end("upstream connect error sk-of-the-test");
      },
      { retry: { max: 0 } },
    );
    expect(plain.last)
      .to.have.nested.property("error.err")
      .that.contains("text/plain, which begins with: upstream connect error")
      .and.not.contains("sk-of-the-test");
  });

  it("a model that stops without a word is the cause", async () => {
    const { why, last } = await run((response) =>
      stream(response, `${chunk({ role: "assistant" })}${chunk({}, "stop")}data: [DONE]\n\n`),
    );
    expect(last).to.include({ type: "run.finished", output: "" });
    expect(why.cause).to.equal("empty_answer");
    expect(why.summary).to.contain("gpt/m ended its answer without a word");
  });

  const comments = (response: ServerResponse, then?: () => void) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    let left = 15;
    const timer = setInterval(() => {
      if (left-- > 0 || then === undefined) return response.write(": keep-alive\n\n");
      clearInterval(timer);
      return then();
    }, 30);
    response.once("close", () => clearInterval(timer));
  };

  it("comments alone do not satisfy timeout.firstChunk", async () => {
    const { last, why } = await run((response) => comments(response), {
      timeout: { firstChunk: "300ms" },
      retry: { max: 0 },
    });
    expect(last).to.have.nested.property("error.code", "timeout");
    expect(last).to.have.nested.property("error.err").that.contains("only comments");
    expect(last).to.have.deep.nested.property("error.details.timeout", "firstChunk");
    expect(why.cause).to.equal("provider_silent");
  });

  it("comments before an answer are a sign of life where no limit is set", async () => {
    const { last } = await run((response) => comments(response, () => response.end(good)));
    expect(last).to.include({ type: "run.finished", output: "fine" });
  });

  it("a retry-after of ten minutes is given up at once, with the wait in words", async () => {
    const { last, why } = await run((response) => {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "600" });
      response.end('{"error":{"message":"slow down"}}');
    });
    expect(asked).to.equal(1);
    expect(why.cause).to.equal("rate_limited");
    expect(last).to.have.nested.property("error.err").that.contains("it asks to wait 600 s");
  });
});
