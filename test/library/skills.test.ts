import { writeFileSync } from "node:fs";
import { expect } from "chai";
import { type AnyAgent, agent, type RunEvent, shell, sqlite, tool } from "venturi";
import { z } from "zod";
import type { GenerationRequest } from "../../src/core/model/provider.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { type Generation, say } from "../../src/testing/model.ts";
import { testVenturi } from "../../src/testing/venturi.ts";
import { heard } from "../heard.ts";
import { testFolder } from "../host/folder.ts";
import { escapes, systemEscapes } from "../plugins/files/escapes.ts";
import { withoutBubblewrap } from "../plugins/shell/workspace.ts";

const skill = (name: string, body: string) =>
  `---\nname: ${name}\ndescription: >\n  What ${name}\n  is for.\n---\n${body}\n`;
const systemOf = (request: GenerationRequest | undefined) =>
  (request?.messages ?? [])
    .filter(({ role }) => role === "system")
    .flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")));
const list = `You have these skills. When one fits the task, read it with read_skill before you begin, and follow what it says.
- forms: What forms is for.
- pdf: What pdf is for.`;

describe("an agent with skills", () => {
  const folder = testFolder();
  const files = () =>
    folder.write({
      "skills/pdf/SKILL.md": skill("pdf", "Split the pages.\n\nSee {{name}} and references/pages.md."),
      "skills/pdf/references/pages.md": "Page by page.",
      "skills/pdf/scripts/split.sh": "echo split",
      "skills/pdf/.env": "KEY=secret",
      "skills/forms/SKILL.md": skill("forms", "Fill them in."),
      "outside/secret.txt": "secret",
    });
  const made = (more: object = {}) => {
    files();
    return agent({
      name: "clerk",
      model: "anthropic/claude-sonnet-4-5",
      instructions: "You are a clerk.",
      skills: [folder.path("skills/*")],
      ...more,
    });
  };
  const play = async (script: readonly Generation[], clerk: AnyAgent = made()) => {
    const venturi = await testVenturi({ agents: [clerk], script, log: silentLog });
    const run = await venturi.start(clerk, "Go");
    const events: RunEvent[] = [];
    for await (const event of run.events()) events.push(event as RunEvent);
    await venturi.close();
    return { events, requests: venturi.requests };
  };
  const outputs = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === "tool.finished" ? [event.ok ? event.output : event.error?.code] : []));

  it("tells the model their names and descriptions, and gives their bodies and files by read_skill", async () => {
    const { events, requests } = await play([
      [say.call(0, "read_skill", { name: "pdf" })],
      [
        say.call(0, "read_skill", { name: "pdf", path: "references/pages.md" }),
        say.call(1, "read_skill", { name: "forms" }),
      ],
      ["Done."],
    ]);
    expect(systemOf(requests[0])).to.deep.equal([`You are a clerk.\n\n${list}`]);
    expect(outputs(events)).to.deep.equal([
      "Split the pages.\n\nSee {{name}} and references/pages.md.\n\n[files of this skill: references/pages.md, scripts/split.sh; you have no tool that runs scripts]",
      "Page by page.",
      "Fill them in.",
    ]);
    const [started] = events;
    const listed = started?.type === "run.started" ? started.skills : undefined;
    expect(listed?.map(({ name, description }) => [name, description])).to.deep.equal([
      ["forms", "What forms\nis for."].map((text) => text.replace("\n", " ")),
      ["pdf", "What pdf is for."],
    ]);
    expect(listed?.every(({ hash }) => hash.length === 64)).to.equal(true);
  });

  it("the prompt's beginning is the same to the byte in every round", async () => {
    const reads = ["pdf", "forms", "pdf", "nothing"].map((name) => [say.call(0, "read_skill", { name })]);
    const { requests } = await play([...reads, ["Done."]]);
    const begins = requests.map(({ messages, tools }) => JSON.stringify([messages[0], tools]));
    expect(new Set(begins).size).to.equal(1);
    expect(begins).to.have.length(5);
  });

  it("no path leaves a skill's folder, or reaches what is denied in it", async () => {
    const paths = [
      ...new Set([
        ...systemEscapes(),
        ...escapes(folder.path("")),
        ".env",
        "./.env",
        "../forms/SKILL.md",
        "..",
        "/",
        "",
      ]),
    ];
    const { events } = await play(
      [
        ...paths.map((path) => [say.call(0, "read_skill", { name: "pdf", path })]),
        ...["../pdf", "/etc", "__proto__", "constructor", "pdf\0", "PDF", ""].map((name) => [
          say.call(0, "read_skill", { name }),
        ]),
        ["Done."],
      ],
      made({ limits: { maxToolRounds: 1_000, maxToolCalls: 1_000 } }),
    );
    const given = outputs(events);
    expect(given).to.have.length(paths.length + 7);
    for (const [index, output] of given.entries())
      expect(output, paths[index]).to.be.oneOf(["tool_denied", "not_found"]);
    expect(JSON.stringify(events)).to.not.contain("secret\\n").and.not.contain("KEY=secret").and.not.contain("root:");
  });

  it("binary files and large ones are refused by name", async () => {
    const clerk = made();
    writeFileSync(folder.path("skills/pdf/logo.png"), Buffer.from([0x89, 0x50, 0]));
    writeFileSync(folder.path("skills/pdf/big.txt"), "x".repeat(1_048_577));
    const read = (path: string) => [say.call(0, "read_skill", { name: "pdf", path })];
    const { events } = await play([read("logo.png"), read("big.txt"), ["Done."]], clerk);
    expect(outputs(events)).to.deep.equal(["tool_failed", "too_large"]);
  });

  it("reads what was there when the configuration was loaded; a reload brings the change, and a run keeps its list", async () => {
    files();
    const journal = sqlite({ path: folder.path("runs.db") });
    const gate = Promise.withResolvers<void>();
    const wait = tool({
      name: "wait",
      description: "Waits",
      input: z.object({}),
      call: async () => await gate.promise,
    });
    const waiting = agent({ ...clerkOptions(folder.path("skills/*")), tools: [wait] });
    const read = [say.call(0, "read_skill", { name: "forms" })];
    const first = await testVenturi({ agents: [waiting], journal, script: [read, [say.call(0, "wait", {})]] });
    const run = await first.start(waiting, "Go");
    for await (const event of run.events()) {
      if (event.type === "tool.finished")
        writeFileSync(folder.path("skills/forms/SKILL.md"), skill("forms", "Burn them."));
      if (event.type === "tool.started" && event.name === "wait") break;
    }
    await run.pause();
    await heard(run.id);
    gate.resolve();
    for await (const event of run.events()) if (event.type === "run.paused") break;
    await first.close();

    folder.write({ "skills/added/SKILL.md": skill("added", "New.") });
    const script = [read, [say.call(0, "read_skill", { name: "added" })], ["Done."]];
    const second = await testVenturi({ agents: [waiting], journal, script });
    const again = await second.get(run.id);
    await again.resume();
    const events: RunEvent[] = [];
    for await (const event of again.events()) events.push(event as RunEvent);
    expect(outputs(events)).to.deep.equal([
      "Fill them in.",
      "",
      "[this skill was changed since this run began]\nBurn them.",
      "not_found",
    ]);
    expect(events.some(({ type }) => type === "agent.revised")).to.equal(true);
    expect(systemOf(second.requests[0])).to.deep.equal(systemOf(first.requests[0]));
    expect(systemOf(second.requests[0])[0]).to.contain(list);
    await second.close();
  });

  it("a fork takes over the list and the answers that the original got", async () => {
    const clerk = made();
    const read = [say.call(0, "read_skill", { name: "forms" })];
    const venturi = await testVenturi({ agents: [clerk], script: [read, ["Done."], read, ["Done again."]] });
    const run = await venturi.start(clerk, "Go");
    await run.result();
    const fork = await run.fork({ after: 1, tools: "recorded" });
    const events: RunEvent[] = [];
    for await (const event of fork.events()) events.push(event as RunEvent);
    expect(outputs(events)).to.deep.equal(["Fill them in."]);
    expect(systemOf(venturi.requests[2])).to.deep.equal(systemOf(venturi.requests[0]));
    await venturi.close();
  });

  it("shows the skills of the agent that a run was handed to", async () => {
    files();
    const pdfs = agent({ name: "pdfs", model: "anthropic/claude-sonnet-4-5", skills: [folder.path("skills/pdf")] });
    const front = agent({
      name: "front",
      model: "anthropic/claude-sonnet-4-5",
      skills: [folder.path("skills/forms")],
      handoffs: [pdfs],
    });
    const script = [
      [say.call(0, "transfer_to_pdfs", {})],
      [say.call(0, "read_skill", { name: "forms" })],
      [say.call(0, "read_skill", { name: "pdf" })],
      ["Done."],
    ];
    const venturi = await testVenturi({ agents: [front], script });
    const run = await venturi.start(front, "Go");
    const events: RunEvent[] = [];
    for await (const event of run.events()) events.push(event as RunEvent);
    expect(systemOf(venturi.requests[0])[0]).to.contain("- forms:").and.not.contain("- pdf:");
    expect(systemOf(venturi.requests[1])[0]).to.contain("- pdf:").and.not.contain("- forms:");
    expect(outputs(events).map((each) => each?.slice(0, 16))).to.deep.equal([
      "The conversation",
      "not_found",
      "Split the pages.",
    ]);
    await venturi.close();
  });

  it("with many tools, read_skill is always shown", async () => {
    const tools = ["one", "two", "three"].map((name) =>
      tool({ name, description: name, input: z.object({}), call: () => name }),
    );
    const clerk = made({ tools, toolPolicy: { defer: { above: 2 } } });
    const { requests } = await play([[say.call(0, "read_skill", { name: "forms" })], ["Done."]], clerk);
    expect(requests.map((request) => request.tools.map(({ name }) => name))).to.deep.equal([
      ["find_tools", "read_result", "read_skill"],
      ["find_tools", "read_result", "read_skill"],
    ]);
  });

  it("scripts are run by the sandboxed shell, which sees the skills and cannot write to them", async function () {
    if (withoutBubblewrap !== undefined) return this.skip();
    files();
    folder.write({ "workspace/page.txt": "page" });
    const box = shell({ cwd: folder.path("workspace"), commands: ["sh"], mounts: [folder.path("skills")] });
    const clerk = agent({ ...clerkOptions(folder.path("skills/*")), tools: [box] });
    const script = folder.path("skills/pdf/scripts/split.sh");
    writeFileSync(script, "cat page.txt; echo changed > $0");
    const { events } = await play(
      [
        [say.call(0, "read_skill", { name: "pdf" })],
        [say.call(0, "shell", { command: "sh", arguments: [script] })],
        ["Done."],
      ],
      clerk,
    );
    const [body = "", ran = ""] = outputs(events);
    expect(body).to.contain(`its folder is ${folder.path("skills/pdf")}, and shell runs its scripts]`);
    expect(ran).to.contain("page").and.to.contain("Read-only file system");
  });

  it("a tool of the same name is refused", async () => {
    const taken = tool({ name: "read_skill", description: "Mine", input: z.object({}), call: () => "" });
    const thrown = await play([["Done."]], made({ tools: [taken] })).catch((error: unknown) => String(error));
    expect(thrown).to.contain('"read_skill" is a tool of both read_skill and skills');
  });
});

const clerkOptions = (skills: string) => ({
  name: "clerk",
  model: "anthropic/claude-sonnet-4-5",
  instructions: "You are a clerk.",
  skills: [skills],
});
