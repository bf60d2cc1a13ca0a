import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import files from "../../../plugins/files/index.ts";
import type { ToolSource } from "../../../src/core/ports/tool.ts";
import { callTool, testPluginContext, toolContract, toolNamed } from "../../../src/testing.ts";
import { cpuTimeOf } from "../../cpu-time.ts";
import { makeWorkspace, type Workspace } from "./workspace.ts";

const open = async (workspace: Workspace, options = {}) =>
  (await files.create(
    files.options.parse({ root: "root", ...options }),
    testPluginContext({ name: "files", folder: workspace.base }),
  )) as ToolSource & { close(): Promise<void> };

const shared = makeWorkspace();
mkdirSync(join(shared.root, "made"));
writeFileSync(join(shared.root, "made/edited.txt"), "abc");
after(() => shared.remove());

toolContract("files", {
  create: () => open(shared, { write: true }),
  samples: [
    { tool: "files_read", input: { path: "readme.md" } },
    { tool: "files_list", input: {} },
    { tool: "files_search", input: { text: "answer" } },
    { tool: "files_write", input: { path: "made/by/contract.txt", content: "x" } },
    { tool: "files_edit", input: { path: "made/edited.txt", find: "b", replace: "b" } },
    {
      tool: "files_patch",
      input: { operation: { type: "update_file", path: "readme.md", diff: "@@\n+more\n" } },
    },
  ],
  misfits: [
    { tool: "files_read", input: {} },
    { tool: "files_write", input: { path: "x" } },
  ],
  failures: [
    { tool: "files_read", input: { path: "nothing.txt" } },
    { tool: "files_read", input: { path: "src" } },
    { tool: "files_edit", input: { path: "readme.md", find: "not there", replace: "" } },
  ],
});

describe("files", () => {
  let workspace: Workspace;
  let source: Awaited<ReturnType<typeof open>>;
  const call = async (name: string, input: Record<string, unknown>) =>
    (await callTool(toolNamed(source, `files_${name}`), input)).output;
  const failure = (name: string, input: Record<string, unknown>) =>
    call(name, input).then(
      (output) => expect.fail(`it answered ${JSON.stringify(output)}`),
      (thrown) => thrown,
    );

  beforeEach(async () => {
    workspace = makeWorkspace();
    source = await open(workspace, { write: true });
  });
  afterEach(async () => {
    await source.close();
    workspace.remove();
  });

  it("offers no tool that writes unless the config says so", async () => {
    const reading = await open(workspace);
    expect(reading.list().map((tool) => `${tool.name} ${tool.effect}`)).to.deep.equal([
      "files_read pure",
      "files_list pure",
      "files_search pure",
    ]);
    await reading.close();
    const all = source.list().map((tool) => `${tool.name} ${tool.effect}`);
    expect(all.slice(3)).to.deep.equal(["files_write idempotent", "files_edit effectful", "files_patch effectful"]);
  });

  it("reads a file whole or by lines", async () => {
    expect(await call("read", { path: "./src//main.ts" })).to.equal("const answer = 42;\nexport { answer };\n");
    expect(await call("read", { path: "readme.md", from: 2, lines: 1 })).to.equal("find me here");
  });

  it("distinguishes binary from text, and a pipe from a file, without waiting for a writer", async () => {
    expect((await failure("read", { path: "image.bin" })).message).to.contain("binary file (4 bytes)");
    expect((await failure("read", { path: "latin1.txt" })).message).to.contain("binary");
    expect((await failure("read", { path: "pipe" })).message).to.contain("not a regular file");
  });

  it("lists to a depth, names links without following them, hides what is denied, stops at the limit", async () => {
    const listed = (await call("list", { depth: 3 })) as { entries: { path: string; kind: string; size?: number }[] };
    const paths = listed.entries.map((entry) => entry.path);
    expect(paths).to.include.members(["readme.md", "src/deep/note.txt", "link-folder"]);
    expect(paths.filter((path) => /\.git|\.env|PEM|link-folder\//.test(path))).to.deep.equal([]);
    expect(listed.entries.find((entry) => entry.path === "link-folder")?.kind).to.equal("link");
    expect(listed.entries.find((entry) => entry.path === "src/main.ts")?.size).to.equal(38);
    const few = await open(workspace, { maxEntries: 2 });
    const { output } = await callTool(toolNamed(few, "files_list"), {});
    expect(output).to.have.property("truncated", true);
    expect(output).to.have.property("entries").with.length(2);
    await few.close();
  });

  it("searches text and names below a folder", async () => {
    expect(await call("search", { text: "find me" })).to.deep.equal({
      matches: [
        { path: "readme.md", line: 2, text: "find me here" },
        { path: "src/deep/note.txt", line: 1, text: "Find Me Too" },
      ],
      truncated: false,
    });
    expect(await call("search", { text: "find me", caseSensitive: true, name: "*.txt" })).to.have.property("matches")
      .empty;
    expect(await call("search", { name: "*.T?", path: "src" })).to.deep.equal({
      matches: [{ path: "src/main.ts" }],
      truncated: false,
    });
  });

  it("a name pattern full of stars costs no more than its length", async () => {
    expect(await cpuTimeOf(() => call("search", { name: `${"*a".repeat(99)}b` }))).to.be.below(1_000);
  });

  it("writes beside and renames, keeps the mode, makes folders, leaves nothing behind", async () => {
    await call("write", { path: "new/deep/file.txt", content: "grüße" });
    expect(readFileSync(join(workspace.root, "new/deep/file.txt"), "utf8")).to.equal("grüße");
    expect(readdirSync(join(workspace.root, "new/deep"))).to.deep.equal(["file.txt"]);
    expect(statSync(join(workspace.root, "new/deep/file.txt")).mode & 0o777).to.equal(0o644 & ~process.umask());
  });

  it("a file with a second name outside is replaced, never written through", async () => {
    await call("write", { path: "second-name.txt", content: "changed" });
    expect(readFileSync(join(workspace.outside, "inner/twin.txt"), "utf8")).to.contain("two names");
    expect(readFileSync(join(workspace.root, "second-name.txt"), "utf8")).to.equal("changed");
  });

  it("edits the one place that matches, and refuses none or many", async () => {
    expect(await call("edit", { path: "src/main.ts", find: "42", replace: "43" })).to.have.property("line", 1);
    expect(readFileSync(join(workspace.root, "src/main.ts"), "utf8")).to.contain("answer = 43");
    expect((await failure("edit", { path: "src/main.ts", find: "answer", replace: "" })).message).to.contain(
      "more than once",
    );
  });

  it("takes plain paths below the root only, and a colon inside a name for no drive", async () => {
    for (const path of [
      "..",
      "../root/readme.md",
      "src/../readme.md",
      "src/..",
      "/readme.md",
      "~/x",
      "c:x",
      "src\\main.ts",
      "a\u0007",
    ])
      for (const [name, more] of [
        ["read", {}],
        ["write", { content: "x" }],
      ] as const)
        expect((await failure(name, { path, ...more })).code, `${name} ${path}`).to.equal("tool_denied");
    await call("write", { path: "notes/10:30.txt", content: "x" });
    expect(await call("read", { path: "notes/10:30.txt" })).to.equal("x");
  });

  it("lists one level unless more are asked for", async () => {
    const paths = async (input: object) =>
      ((await call("list", { ...input })) as { entries: { path: string }[] }).entries.map(({ path }) => path);
    expect((await paths({ depth: 1 })).filter((path) => path.includes("/"))).to.deep.equal([]);
    const two = await paths({ depth: 2 });
    expect(two).to.include("src/main.ts").and.not.to.include("src/deep/note.txt");
  });

  it("says why a file cannot be replaced, and leaves nothing beside it", async () => {
    const before = readdirSync(workspace.root);
    expect((await failure("write", { path: "src", content: "x" })).message).to.contain("is a folder");
    expect(readdirSync(workspace.root)).to.deep.equal(before);
  });

  it("edits at the same time do not lose each other's change", async () => {
    await call("write", { path: "many.txt", content: Array.from({ length: 20 }, (_, n) => `<${n}>`).join("") });
    const edits = Array.from({ length: 20 }, (_, n) =>
      call("edit", { path: "many.txt", find: `<${n}>`, replace: `[${n}]` }),
    );
    await Promise.all(edits);
    expect(readFileSync(join(workspace.root, "many.txt"), "utf8")).not.to.contain("<");
  });

  it("refuses files beyond the size limit, in both directions", async () => {
    const small = await open(workspace, { write: true, maxFile: "16B" });
    const outcome = (name: string, input: Record<string, unknown>) =>
      callTool(toolNamed(small, name), input).catch((thrown) => thrown.code);
    expect(await outcome("files_read", { path: "readme.md" })).to.equal("too_large");
    expect(await outcome("files_write", { path: "big.txt", content: "x".repeat(17) })).to.equal("too_large");
    await small.close();
  });

  it("a root that does not exist is a config error", async () => {
    const thrown = await open(workspace, { root: "nowhere" }).catch((error) => error);
    expect(thrown.code).to.equal("config_invalid");
  });
});
