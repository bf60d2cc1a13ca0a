import { fileURLToPath } from "node:url";
import { expect } from "chai";
import mcp from "../../../plugins/mcp/index.ts";
import type { ToolSource } from "../../../src/core/ports/tool.ts";
import { callTool, testPluginContext, toolNamed } from "../../../src/testing.ts";

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));

describe("mcp: resources and prompts of a server as tools", () => {
  let source: ToolSource & { close(): Promise<void> };
  const open = async (options: object) => {
    const given = mcp.options.parse({ command: process.execPath, args: [everything, "stdio"], ...options });
    return (await mcp.create(given, testPluginContext({ name: "remote" }))) as typeof source;
  };
  before(async () => {
    source = await open({ resources: true, prompts: true });
  });
  after(() => source.close());
  const call = async (name: string, input: Record<string, unknown> = {}) =>
    String((await callTool(toolNamed(source, `remote_${name}`), input)).output);

  it("resources are listed with the templates of their addresses, and read", async () => {
    const { resources, templates } = JSON.parse(await call("list_resources"));
    expect(resources[0]).to.include.keys("uri", "name");
    expect(templates[0]).to.include.keys("uriTemplate", "name");
    expect(await call("read_resource", { uri: resources[0].uri })).to.have.length.above(20);
    const missing = await callTool(toolNamed(source, "remote_read_resource"), { uri: "no://where" }).catch((it) => it);
    expect(missing.code).to.equal("tool_failed");
  });

  it("prompts are listed with their arguments, and filled in", async () => {
    const prompts: { name: string; arguments: { name: string }[] }[] = JSON.parse(await call("list_prompts"));
    const filled = prompts.find(({ arguments: given }) => given.some(({ name }) => name === "city"));
    const text = await call("get_prompt", { name: filled?.name, arguments: { city: "Ghent" } });
    expect(text)
      .to.match(/^user:\n/)
      .and.contain("Ghent");
  });

  it("they are offered only where the configuration says so", async () => {
    const plain = await open({});
    expect(plain.list().map(({ name }) => name)).not.to.include.members(["remote_read_resource", "remote_get_prompt"]);
    await plain.close();
  });
});
