import { expect } from "chai";
import type { RunContext } from "../../src/agent/run/run-context.ts";
import type { Skill } from "../../src/agent/run/skills.ts";
import { deferredTools } from "../../src/agent/tools/find-tools.ts";
import { readSkillTool } from "../../src/agent/tools/read-skill.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Tool, ToolContext } from "../../src/core/ports/tool.ts";
import { tool } from "./harness.ts";

const named = (name: string, description = ""): Tool => ({ ...tool(name, () => ""), description });
const tools = [
  named("git_log", "history of a repository"),
  named("git_push", "sends commits"),
  named("slack-post", "sends a message"),
  named("_hidden"),
  named("clock"),
];

describe("tools that the model looks for", () => {
  const emitted: unknown[] = [];
  const offered = (own: readonly Tool[], above: number | undefined, found: string[] = []) =>
    deferredTools(
      {
        agent: { toolPolicy: above === undefined ? {} : { defer: { above } } },
        state: { foundTools: new Set(found) },
        emit: (event: unknown) => emitted.push(event),
      } as unknown as RunContext,
      own,
    );
  const find = (query: string, group?: string) => {
    emitted.length = 0;
    const [search] = offered(tools, 1) ?? [];
    const input = { query, ...(group === undefined ? {} : { group }) };
    return search?.call(input, { round: 2, call: "c1" } as ToolContext) as string | { name: string }[];
  };
  const names = (found: string | { name: string }[]) =>
    typeof found === "string" ? found : found.map(({ name }) => name);

  it("are all offered while they are few", () => {
    expect(offered(tools, undefined)).to.equal(undefined);
    expect(offered(tools, 5)).to.equal(undefined);
    expect(offered(tools, 4)?.map(({ name }) => name)).to.deep.equal(["find_tools"]);
  });

  it("are offered once they were found, after those that read skills, which are never looked for", () => {
    const own = [named("read_skill"), ...tools];
    const [search, ...rest] = offered(own, 1, ["clock", "gone", "git_log"]) ?? [];
    expect(rest.map(({ name }) => name)).to.deep.equal(["read_skill", "clock", "git_log"]);
    expect(search?.description).to.contain("There are 5,");
  });

  it("are named by the beginnings of their names, the largest group first", () => {
    const [search] = offered(tools, 1) ?? [];
    expect(search?.description).to.contain("git (2), _hidden (1), clock (1), slack (1).");
    expect(find("umbrella")).to.equal("No tool fits. The groups are: git (2), _hidden (1), clock (1), slack (1).");
    const many = Array.from({ length: 62 }, (_, index) => named(`g${index}_x`));
    expect(offered(many, 1)?.[0]?.description).to.match(/ \(1\), 2 more\.$/);
  });

  it("are found by their name, by words of it, by words of their description, in that order", () => {
    expect(names(find("sends"))).to.deep.equal(["git_push", "slack-post"]);
    expect(names(find("post sends"))).to.deep.equal(["slack-post", "git_push"]);
    expect(names(find("CLOCK"))).to.deep.equal(["clock"]);
    expect(names(find("sends", "slack"))).to.deep.equal(["slack-post"]);
    expect(emitted).to.deep.equal([{ type: "tools.found", round: 2, call: "c1", names: ["slack-post"] }]);
    find("umbrella");
    expect(emitted).to.deep.equal([]);
  });
});

describe("a skill that the model reads", () => {
  const skill = {
    name: "forms",
    hash: "h1",
    body: "Fill it in.",
    folder: "/skills/forms",
    files: new Map([
      ["SKILL.md", { size: 1, text: "Fill it in." }],
      ["references/a.md", { size: 1, text: "A" }],
      ["secret.md", { size: 1, unread: "denied" }],
      ["big.md", { size: 9_000_000, unread: "large" }],
      ["image.png", { size: 7, unread: "binary" }],
      ["scripts/run.sh", { size: 1, text: "x" }],
    ]),
  } as unknown as Skill;
  const read = (input: { name: string; path?: string }, hash = "h1", shells: string[] = ["sh"]): string =>
    readSkillTool([skill], shells).call(input, {
      skills: [
        { name: "forms", hash },
        { name: "gone", hash: "h" },
      ],
    } as unknown as ToolContext) as string;
  const refusal = (input: { name: string; path?: string }): { code: string; message: string } => {
    try {
      read(input);
    } catch (thrown) {
      if (VenturiError.isInstance(thrown)) return thrown;
      throw thrown;
    }
    return { code: "", message: "" };
  };

  it("has a body, the names of its files, and what runs its scripts", () => {
    const text = read({ name: "forms" });
    expect(text)
      .to.match(/^Fill it in\./)
      .and.contain("references/a.md")
      .and.contain("sh runs its scripts");
    expect(text).not.to.contain("secret.md");
    expect(read({ name: "forms" }, "h1", [])).to.contain("you have no tool that runs scripts");
    expect(read({ name: "forms", path: "references/a.md" })).to.equal("A");
    expect(read({ name: "forms", path: "./references//a.md" })).to.equal("A");
  });

  it("says so when it was changed since the run began", () => {
    expect(read({ name: "forms", path: "references/a.md" }, "h0")).to.match(/^\[this skill was changed .*\]\nA$/);
  });

  it("does not give what it has not, may not show or cannot", () => {
    expect(refusal({ name: "other" })).to.include({ code: "not_found" });
    expect(refusal({ name: "gone" })).to.include({ code: "not_found" });
    for (const path of ["nowhere.md", "secret.md"]) {
      const { code, message } = refusal({ name: "forms", path });
      expect(code).to.equal("not_found");
      expect(message).to.contain("it has: SKILL.md, references/a.md, big.md, image.png, scripts/run.sh");
    }
    expect(refusal({ name: "forms", path: "big.md" }).code).to.equal("too_large");
    expect(refusal({ name: "forms", path: "image.png" }).code).to.equal("tool_failed");
    for (const path of ["../x", "/etc/passwd", "~/x", "a\\b", "c:x", "a\0", "x".repeat(4_097), "references/../../x"])
      expect(refusal({ name: "forms", path }).code, path.slice(0, 20)).to.equal("tool_denied");
  });
});
