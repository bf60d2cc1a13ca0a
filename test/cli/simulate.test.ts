import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import Anthropic from "@anthropic-ai/sdk";
import { expect } from "chai";
import OpenAI from "openai";
import { calculator } from "../plugins/simulator/tools.ts";

const bin = new URL("../../src/cli/bin.js", import.meta.url).pathname;

describe("venturi simulate", () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  function start(...flags: string[]) {
    const child = spawn(process.execPath, [bin, "simulate", ...flags], { stdio: ["ignore", "pipe", "pipe"] });
    children.push(child);
    let words = "";
    child.stderr.on("data", (bytes) => {
      words += bytes;
    });
    return { child, words: () => words };
  }

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it(`prints where it listens on stdout, words on stderr, and ends well on ${signal} even with a stalled client`, async () => {
      const { child, words } = start("--port", "0", "--pace", "0");
      const [line] = await once(child.stdout, "data");
      const url = String(line).trim();
      expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
      const body = JSON.stringify({ model: "echo!stall@2", stream: true, messages: [{ role: "user", content: "hi" }] });
      const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", body });
      expect(answer.status).to.equal(200);
      const exited = once(child, "exit");
      child.kill(signal);
      expect((await exited)[0]).to.equal(0);
      expect(words()).to.contain(`curl -N ${url}/v1/chat/completions`);
    });
  }

  it("the official openai and anthropic clients stream tool calls from it unchanged", async () => {
    const { child } = start("--port", "0", "--pace", "1");
    const [line] = await once(child.stdout, "data");
    const url = String(line).trim();
    const content = "what is 17 * 23?";
    const expected = ["calculator", { expression: "17 * 23" }];
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "any" });
    const chat = await openai.chat.completions
      .stream({
        model: "gpt-x",
        messages: [{ role: "user", content }],
        tools: [{ type: "function", function: calculator }],
      })
      .finalFunctionToolCall();
    expect([chat?.name, JSON.parse(chat?.arguments ?? "")]).to.deep.equal(expected);
    const response = await openai.responses
      .stream({ model: "gpt-x", input: content, tools: [{ type: "function", strict: false, ...calculator }] })
      .finalResponse();
    const called = response.output.find((item) => item.type === "function_call");
    expect([called?.name, JSON.parse(called?.arguments ?? "")]).to.deep.equal(expected);
    const { parameters, ...named } = calculator;
    const message = await new Anthropic({ baseURL: url, apiKey: "any" }).messages
      .stream({
        model: "claude-x",
        max_tokens: 99,
        messages: [{ role: "user", content }],
        tools: [{ ...named, input_schema: parameters }],
      })
      .finalMessage();
    const used = message.content.find((block) => block.type === "tool_use");
    expect([used?.name, used?.input]).to.deep.equal(expected);
  });

  it("ends with usage status on a fault that does not exist and with config status on a missing scenario", async () => {
    const wrong = start("--port", "0", "--fault", "explode");
    expect((await once(wrong.child, "exit"))[0]).to.equal(2);
    expect(wrong.words()).to.contain('"explode" is not a fault');
    const missing = start("--port", "0", "--scenario", "nowhere.yaml");
    expect((await once(missing.child, "exit"))[0]).to.equal(78);
    expect(missing.words()).to.contain("nowhere.yaml");
  });

  it("says so when the port is taken", async () => {
    const { child } = start("--port", "0");
    const [line] = await once(child.stdout, "data");
    const { port } = new URL(String(line).trim());
    const second = start("--port", port);
    expect((await once(second.child, "exit"))[0]).to.equal(1);
    expect(second.words()).to.contain(`cannot listen on 127.0.0.1:${port}`);
  });
});
