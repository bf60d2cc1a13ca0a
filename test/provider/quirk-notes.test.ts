import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { quirkNotes } from "../../src/provider/quirk-notes.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const decoders = ["openai", "openai-responses", "anthropic", "gemini", "ollama", "bedrock"];

describe("notes on quirks", () => {
  it("there is one for each name that a built-in decoder counts, in docs/providers.md too", () => {
    const counted = new Set<string>();
    for (const plugin of decoders) {
      const folder = join(root, "plugins", plugin);
      for (const file of readdirSync(folder).filter((name) => name.endsWith(".ts"))) {
        const source = readFileSync(join(folder, file), "utf8");
        for (const [, words = ""] of source.matchAll(/quirks\.count\(([^)]*)\)/g)) {
          for (const [, name = ""] of words.matchAll(/"([a-z]+(?:_[a-z]+)+)"/g)) counted.add(name);
        }
      }
    }
    expect(counted.size).to.be.greaterThan(40);
    expect([...counted].filter((name) => quirkNotes[name] === undefined)).to.deep.equal([]);
    const page = readFileSync(join(root, "docs/providers.md"), "utf8");
    for (const [name, note] of Object.entries(quirkNotes)) expect(page).to.include(`| \`${name}\` | ${note} |`);
  });
});
