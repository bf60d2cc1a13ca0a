import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import http from "../../../plugins/http/index.ts";
import type { ToolSource } from "../../../src/plugin.ts";
import { callTool, testPluginContext } from "../../../src/testing.ts";

const secret = 'k/ey+zanzibar "quoted"==';

describe("what a server echoes of an http tool's credentials", () => {
  let server: Server;
  let port = 0;
  beforeEach(async () => {
    server = createServer((request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ url: request.url, headers: request.headers }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  const answersOf = async (operations: Record<string, Record<string, unknown>>): Promise<string[]> => {
    const described = Object.entries(operations).map(([name, each]) => [name, { description: "Asks", ...each }]);
    const options = http.options.parse({
      allowPrivate: [`127.0.0.1:${port}`],
      operations: Object.fromEntries(described),
    });
    const source = (await http.create(options, testPluginContext({ name: "api" }))) as ToolSource & { close(): void };
    const answers: string[] = [];
    for (const tool of source.list()) answers.push(JSON.stringify((await callTool(tool, {})).output));
    source.close();
    return answers;
  };

  it("is masked as a URL, a form or JSON spells it, and when it is part of the operation's URL", async () => {
    const at = `http://127.0.0.1:${port}/x`;
    const answers = await answersOf({
      query: { url: at, query: { api_key: secret } },
      url: { url: `${at}?api_key=${encodeURIComponent(secret)}&page=2` },
      header: { url: at, headers: { "x-api-key": secret } },
    });
    for (const answer of answers) expect(answer).not.to.contain("zanzibar").and.not.to.contain("quoted");
    expect(answers[1]).to.contain("page=2");
  });

  it("is masked for each operation, though two have a header of one name", async () => {
    const url = `http://127.0.0.1:${port}/x`;
    const answers = await answersOf({
      one: { url, headers: { authorization: "Bearer first-zanzibar" } },
      two: { url, headers: { authorization: "Bearer second-zanzibar" } },
    });
    expect(answers.join()).not.to.contain("zanzibar");
  });
});
