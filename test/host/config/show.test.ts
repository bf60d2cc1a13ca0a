import { expect } from "chai";
import { loadConfig } from "../../../src/host/config/load.ts";
import { showJson, showYaml } from "../../../src/host/config/show.ts";
import { preamble, testFolder } from "../folder.ts";

describe("config show", () => {
  const folder = testFolder();

  it("shows no secret in an argument, a URL or its query", async () => {
    const text = `${preamble}tools:
  one:
    type: mcp
    command: server
    args: [stdio, --token, canary1, --api-key=canary2, -pcanary3, "Authorization: Bearer canary4", -v, --verbose]
    optional: true
  two: { type: mcp, url: "https://user:canary5@mcp.example.com/x?key=canary6&password=canary7#top", optional: true }
  three: { type: mcp, url: "https://canary8@mcp.example.com/", optional: true }
`;
    const config = await loadConfig({ file: folder.write({ "venturi.yaml": text }), env: {} });
    for (const shown of [showYaml(config), JSON.stringify(showJson(config))]) {
      expect(shown).not.to.include("canary");
      for (const kept of [
        "--token",
        "--api-key=***",
        "-v",
        "--verbose",
        "mcp.example.com/x?key=***&password=***#top",
      ]) {
        expect(shown).to.include(kept);
      }
    }
  });
});
