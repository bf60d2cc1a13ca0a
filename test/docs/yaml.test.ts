import { expect } from "chai";
import { parseDocument, stringify } from "yaml";
import { loadConfig } from "../../src/host/config/load.ts";
import { Settings } from "../../src/host/config/schema.ts";
import { testFolder } from "../host/folder.ts";
import { type Block, blocksOf, isRun, nameOf, pages, placeOf } from "./pages.ts";

const keys = new Set(Object.keys(Settings.shape));

/** What a fragment of a configuration may take for granted, besides the tools its agents name. */
const around: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  providers: { claude: { type: "simulator" }, gpt: { type: "simulator" }, demo: { type: "simulator" } },
  models: { main: { chain: ["demo/small"] } },
  agents: { assistant: { model: "main" }, researcher: { model: "main" } },
};

describe("YAML in the pages", () => {
  const folder = testFolder();

  for (const block of pages()
    .flatMap(blocksOf)
    .filter((each) => each.language === "yaml" && isRun(each))) {
    it(`${nameOf(block)} is valid`, async () => {
      const document = parseDocument(block.text);
      expect(document.errors.map(String)).to.deep.equal([]);
      const value = document.toJS() as unknown;
      if (!isConfig(value)) return;
      const whole = { journal: { type: "memory" }, ...completed(value) };
      await loadConfig({
        file: folder.write({
          "venturi.yaml": stringify(whole),
          "prompts/assistant.md": "Help.",
          ...filesNamed(block),
          ...filesOf(block),
        }),
        env: environment(block),
      });
    });
  }
});

const isConfig = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.keys(value).every((key) => keys.has(key));

function completed(config: Record<string, unknown>): Record<string, unknown> {
  const whole = { ...config };
  for (const [section, entries] of Object.entries(around)) {
    const own = config[section];
    whole[section] = { ...entries, ...(typeof own === "object" ? own : {}) };
  }
  const named = Object.values(record(config.agents)).flatMap((agent) => record(agent).tools ?? []);
  whole.tools = { ...Object.fromEntries(named.map((name) => [name, { type: "clock" }])), ...record(config.tools) };
  return whole;
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};

const module = `const tool = { description: "Does it", parameters: { type: "object" }, call: () => "done" };
export default tool;
export { tool as refund };
`;

/** Every file the block names is there: modules of tools, and scenarios. */
const filesNamed = ({ text }: Block): Record<string, string> => ({
  ...Object.fromEntries([...text.matchAll(/path: (\.\/[\w./-]+\.[jt]s)\b/g)].map(([, name = ""]) => [name, module])),
  ...Object.fromEntries(
    [...text.matchAll(/scenarios: \[([\w.-]+\.yaml)\]/g)].map(([, name = ""]) => [
      name,
      "name: x\nturns: [{ text: hi }]\n",
    ]),
  ),
});

/** The files that its page shows. */
const filesOf = ({ page }: Block): Record<string, string> =>
  Object.fromEntries(
    blocksOf(page).flatMap((each) => (each.language === "markdown" ? [[placeOf(each) ?? "x.md", each.text]] : [])),
  );

/** Every variable the block wants is set. */
const environment = ({ text }: Block): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/\$\{env:(\w+)/g)].map(([, name = ""]) => [
      name,
      name.includes("SHA256") ? "a".repeat(64) : "http://x.example",
    ]),
  );
