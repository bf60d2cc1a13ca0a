import { fileURLToPath } from "node:url";
import { createMcpHandler, inputRequired, inputResponse, McpServer } from "@modelcontextprotocol/server";
import { expect } from "chai";
import mcp from "../../../plugins/mcp/index.ts";
import type { Question, ToolContext, ToolSource, Verdict } from "../../../src/core/ports/tool.ts";
import { callTool, testPluginContext, toolNamed } from "../../../src/testing.ts";
import { serveFetch } from "./http-server.ts";

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
type Source = ToolSource & { close(): Promise<void> };

describe("mcp: questions of a server", () => {
  const closing: { close(): Promise<void> }[] = [];
  const asked: Question[] = [];
  const open = async (options: object) => {
    const source = (await mcp.create(mcp.options.parse(options), testPluginContext({ name: "remote" }))) as Source;
    closing.unshift(source);
    return source;
  };
  const answering = (verdict: Verdict): Partial<ToolContext> => ({
    ask: async (question) => {
      asked.push(question);
      return verdict;
    },
  });
  beforeEach(() => {
    asked.length = 0;
  });
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
  });

  /** A server of 2026: its call is answered with a question until the answer comes with it. */
  const modern = async () => {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "modern", version: "1" });
      server.registerTool("book", { description: "Books" }, (context) => {
        const reply = inputResponse(context.mcpReq.inputResponses, "seat");
        if (reply.kind !== "elicit") {
          return inputRequired({
            inputRequests: {
              seat: inputRequired.elicit({
                message: "Which seat?",
                requestedSchema: {
                  type: "object",
                  properties: { row: { type: "integer", default: 12 }, window: { type: "boolean" } },
                },
              }),
            },
            requestState: "state-1",
          });
        }
        return { content: [{ type: "text", text: JSON.stringify([reply, context.mcpReq.requestState()]) }] };
      });
      return server;
    });
    const http = await serveFetch((request) => handler.fetch(request));
    closing.push(http, handler);
    return http.url;
  };

  it("2026-07-28: the form is a question of the run, and the call is made again with the answer", async () => {
    const source = await open({ url: await modern() });
    const book = toolNamed(source, "remote_book");
    const { output } = await callTool(book, {}, answering({ approved: true, by: "ann", answer: { window: true } }));
    expect(asked[0]).to.include({ kind: "elicit", name: "book", message: 'The server "remote" asks: Which seat?' });
    expect(asked[0]).to.have.nested.property("schema.properties.row.default", 12);
    expect(String(output)).to.contain('"row":12').and.contain('"window":true').and.contain("state-1");
    const declined = await callTool(book, {}, answering({ approved: false, by: "ann" }));
    expect(String(declined.output)).to.contain("decline");
  });

  it("refused by the configuration, nobody is asked", async () => {
    const source = await open({ url: await modern(), elicitation: false });
    const thrown = await callTool(toolNamed(source, "remote_book"), {}, answering({ approved: true })).catch(
      (it) => it,
    );
    expect(thrown.code).to.equal("tool_failed");
    expect(asked).to.have.length(0);
  });

  it("2025-11-25: a question that the server sends on its own finds the call, unless two runs have one", async () => {
    const source = await open({ command: process.execPath, args: [everything, "stdio"] });
    const tool = toolNamed(source, "remote_trigger-elicitation-request");
    const { output } = await callTool(tool, {}, answering({ approved: true, by: "ann", answer: { name: "Ann" } }));
    expect(String(output)).to.contain("Ann");
    expect(asked[0]?.kind).to.equal("elicit");
    asked.length = 0;
    const slow = toolNamed(source, "remote_trigger-long-running-operation");
    const other = callTool(slow, { duration: 0.3, steps: 1 }, { run: "run_other" });
    const dismissed = await callTool(tool, {}, answering({ approved: true, answer: { name: "Ann" } }));
    expect(String(dismissed.output)).to.contain("cancel");
    expect(asked).to.have.length(0);
    await other;
  });
});
