import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import a2a from "../../../plugins/a2a/index.ts";
import type { Question } from "../../../src/core/ports/tool.ts";
import type { Tool } from "../../../src/plugin.ts";
import { callTool, testPluginContext } from "../../../src/testing.ts";

const key = "key-of-this-tool-4711";

describe("what an agent of another service echoes of our credentials", () => {
  let server: Server;
  let url = "";
  let states: string[] = [];
  beforeEach(async () => {
    states = ["INPUT_REQUIRED", "COMPLETED"];
    server = createServer((request, response) => {
      const said = `you are ${request.headers.authorization?.split(" ")[1]}`;
      const supportedInterfaces = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
      if (request.method === "GET")
        return void response.end(JSON.stringify({ name: "Tides", description: said, supportedInterfaces }));
      const status = { state: `TASK_STATE_${states.shift()}`, message: { parts: [{ text: said }] } };
      const artifacts = [{ artifactId: "a", parts: [{ text: said }] }];
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { task: { id: "t", status, artifacts } } }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it("is masked in its card, its questions and its answers, without the word before it too", async () => {
    const options = a2a.options.parse({ url, headers: { authorization: `Bearer ${key}`, accept: "application/json" } });
    const tool = (await a2a.create(options, testPluginContext({ name: "peer" }))) as Tool;
    expect(tool.description).to.equal("you are [authorization value]");
    const asked: Question[] = [];
    const ask = async (question: Question) => {
      asked.push(question);
      return { approved: true, answer: "yes" };
    };
    const { output } = await callTool(tool, { task: "When?" }, { ask });
    expect(asked[0]).to.have.property("message", 'The agent "peer" asks: you are [authorization value]');
    expect(output).to.equal("you are [authorization value]");
  });
});
