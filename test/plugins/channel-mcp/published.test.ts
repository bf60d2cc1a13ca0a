import { expect } from "chai";
import { filled, valuesIn } from "../../../plugins/channel-mcp/published.ts";
import type { Service } from "../../../src/host/service.ts";
import { testFolder } from "../../host/folder.ts";
import { configuration, connect, type Era, pay, start } from "./service.ts";

const resources = [
  { uri: "docs://style", name: "style", text: "Short sentences." },
  { uri: "docs://logo", name: "logo", mimeType: "image/png", file: "./logo.png" },
  { uri: "docs://orders/{id}/lines/{line}", name: "line", text: "{{id}}, {{line}}, {{other}}" },
];
const prompts = {
  review: {
    description: "A review",
    arguments: { file: { required: true }, tone: {} },
    messages: [{ role: "user", content: { type: "text", text: "Review {{file}} {{ tone }}" } }],
  },
};

describe("what an operator publishes over MCP", () => {
  const folder = testFolder();
  let service: Service;
  beforeEach(async () => {
    const channels = { mcp: { resources, prompts } };
    service = await start(
      folder.write({ "venturi.yaml": configuration({ channels }), "pay.mjs": pay, "logo.png": "\u0001\u0002" }),
    );
  });
  afterEach(() => service.drain("interrupt"));

  for (const era of ["2025-11-25", "2026-07-28"] satisfies Era[]) {
    it(`${era}: resources are listed and read, templates with their values`, async () => {
      const client = await connect(service.url, era);
      const { resources: listed } = await client.listResources();
      expect(listed.map(({ uri }) => uri)).to.include.members(["docs://style", "docs://logo"]);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).to.include("docs://orders/{id}/lines/{line}");
      const read = async (uri: string) => (await client.readResource({ uri })).contents[0];
      expect(await read("docs://style")).to.include({ text: "Short sentences.", mimeType: "text/plain" });
      expect(await read("docs://logo")).to.include({ blob: "AQI=" });
      expect(await read("docs://orders/7/lines/{{id}}")).to.include({ text: "7, {{id}}, {{other}}" });
      for (const uri of ["docs://nothing", "docs://orders//lines/1", "docs://style/..", "file:///etc/passwd"]) {
        const { code } = await read(uri).catch((thrown) => thrown);
        expect(code, uri).to.be.oneOf([-32002, -32602]);
      }
      await client.close();
    });

    it(`${era}: prompts are listed beside the agents' and filled in`, async () => {
      const client = await connect(service.url, era);
      const names = (await client.listPrompts()).prompts.map(({ name }) => name);
      expect(names).to.include.members(["review", "echo"]);
      const { messages } = await client.getPrompt({ name: "review", arguments: { file: "{{tone}}", tone: "kindly" } });
      expect(messages[0]?.content).to.deep.include({ text: "Review {{tone}} kindly" });
      for (const given of [{}, { file: "a", colour: "red" }]) {
        const { code } = await client.getPrompt({ name: "review", arguments: given as never }).catch((it) => it);
        expect(code).to.equal(-32602);
      }
      await client.close();
    });
  }

  it("a template takes one segment for each name, and nothing else", () => {
    expect(valuesIn("a://{x}", "a://1")).to.deep.equal({ x: "1" });
    expect(valuesIn("a://{x}/b", "a://1/b")).to.deep.equal({ x: "1" });
    for (const uri of ["a://", "a://1/2", "a://1/b/c", "b://1", "a://1/b?", ""]) {
      expect(valuesIn("a://{x}/b", uri), uri).to.equal(undefined);
    }
    expect(valuesIn("a://{x", "a://1")).to.equal(undefined);
  });

  it("replacements are not expanded again, and unknown names stay", () => {
    const values = { a: "{{b}}", b: "2" };
    expect(filled({ text: "{{a}} {{b}} {{c}} {{ b }} {{", n: 1, list: ["{{b}}"] }, values)).to.deep.equal({
      text: "{{b}} 2 {{c}} 2 {{",
      n: 1,
      list: ["2"],
    });
  });
});
