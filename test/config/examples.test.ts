import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { expect } from "chai";
import { startSimulator } from "../../plugins/simulator/server.ts";
import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import type { RunRequest } from "../../src/core/run/run-request.ts";
import { loadConfig } from "../../src/host/config/load.ts";
import { openHost } from "../../src/host/open.ts";
import { openService } from "../../src/host/service.ts";
import { testFolder } from "../host/folder.ts";

const env = {
  SANDBOX: "approve", // bubblewrap is not on every machine
  PATH: process.env.PATH,
  ANTHROPIC_API_KEY: "key-a",
  OPENAI_API_KEY: "key-o",
  GEMINI_API_KEY: "key-g",
  GATEWAY_KEY_SHA256: createHash("sha256").update("gate").digest("hex"),
};
const noKeys = { PATH: process.env.PATH, SANDBOX: "approve" };

describe("the examples", function () {
  this.timeout(180_000);
  const folder = testFolder();

  for (const file of readdirSync("config/examples").filter((name) => name.endsWith(".yaml"))) {
    it(`${file} is valid`, async () => {
      const { agents } = await loadConfig({ file: `config/examples/${file}`, env });
      expect(Object.keys(agents)).not.to.deep.equal([]);
    });
  }

  async function run(file: string, request: RunRequest, approved?: boolean): Promise<readonly RunEvent[]> {
    const host = await openHost({
      configFile: `config/examples/${file}`,
      set: [...quick(folder.path("journal.db")), "providers.demo.pace=0"],
      env: noKeys,
    });
    const events: RunEvent[] = [];
    try {
      const { run } = await host.runs.start(request);
      for await (const batch of host.runs.follow(run)) {
        for (const event of batch) {
          events.push(event);
          if (event.type === "approval.requested" && approved !== undefined) {
            await host.runs.signal(run, "approve", { call: event.call, approved });
          }
        }
      }
    } finally {
      await host.close();
    }
    return events;
  }

  const ask = (text: string): RunRequest => ({ agent: "support", input: { text, variables: { customer: "Ada" } } });

  it("the support agent looks an order up", async () => {
    expect(output(await run("support.yaml", ask("Where is order A-17?")))).to.include("a brass telescope");
  });

  it("the support agent refunds a small amount by itself and asks for a large one", async () => {
    const small = await run("support.yaml", ask("Refund order A-18 with the amount 12"));
    expect(types(small)).not.to.include("approval.requested");
    expect(output(small)).to.include("refunded 12");
    const large = await run("support.yaml", ask("Refund order A-17 with the amount 240"), false);
    expect(types(large)).to.include("approval.requested");
    expect(output(large)).to.include("tool_denied");
  });

  it("the support agent needs to know its customer", async () => {
    const failure = await run("support.yaml", { agent: "support", input: { text: "hello" } }).catch((error) => error);
    expect(failure.code).to.equal("invalid_input");
  });

  it("the coding agent reads files, and runs the tests when a person agrees", async () => {
    const read = await run("coding.yaml", { agent: "coder", input: { text: "Read the file greet.js" } });
    expect(output(read)).to.include("export const greet");
    const tested = await run("coding.yaml", { agent: "coder", input: { text: "Run the shell command test" } }, true);
    expect(types(tested)).to.include.members(["approval.requested", "approval.resolved"]);
    expect(tested.find((event) => event.type === "approval.requested")?.reason).to.match(
      /^without a sandbox: .*node --test$/,
    );
    const [finished] = tested.filter((event) => event.type === "tool.finished");
    expect(finished?.output, JSON.stringify(finished)).to.match(/pass 1/);
  });

  it("the researcher asks the librarian, who searches an MCP server", async () => {
    const text = "Ask the librarian about the Venturi effect";
    const events = await run("research.yaml", { agent: "researcher", input: { text } });
    expect(output(events)).to.include("the fluid flows faster");
  });

  it("the gateway answers OpenAI and Anthropic clients from the third provider when two are down", async () => {
    const down = await startSimulator({ faults: "status=503" });
    const limited = await startSimulator({ faults: "rate-limit=10" });
    const good = await startSimulator();
    const service = await openService({
      configFile: "config/examples/gateway.yaml",
      set: [...quick(folder.path("journal.db")), "server.listen=127.0.0.1:0"],
      env: {
        ...env,
        ANTHROPIC_BASE_URL: down.url,
        OPENAI_BASE_URL: `${limited.url}/v1`,
        GEMINI_BASE_URL: `${good.url}/v1beta`,
      },
    });
    try {
      const post = (path: string, key: string) =>
        fetch(`${service.url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
          body: JSON.stringify({ model: "best", max_tokens: 100, messages: [{ role: "user", content: "hello" }] }),
        });
      expect((await post("/openai/v1/chat/completions", "wrong")).status).to.equal(401);
      const chat = await post("/openai/v1/chat/completions", "gate");
      expect(await chat.text()).to.match(/"content":"[^"]*simulator/);
      const message = await post("/anthropic/v1/messages", "gate");
      expect(await message.text()).to.match(/"text":"[^"]*simulator/);
      expect(
        [down.requests.length, limited.requests.length, good.requests.length].every((count) => count >= 2),
      ).to.equal(true);
    } finally {
      await service.drain();
      await Promise.all([down.close(), limited.close(), good.close()]);
    }
  });
});

const quick = (journal: string) => [`journal.path=${journal}`, "telemetry.logs.level=error"];
const types = (events: readonly RunEvent[]) => events.map((event) => event.type);
const output = (events: readonly RunEvent[]): string => events.find(isTerminal)?.output ?? "";
