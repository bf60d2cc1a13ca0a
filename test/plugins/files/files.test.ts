import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
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
    for (const path of ["notes/10:30.txt", "notes/at:noon.txt"]) {
      await call("write", { path, content: "x" });
      expect(await call("read", { path })).to.equal("x");
    }
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

  it("edits, patches and writes at the same time keep to their order", async () => {
    const lines = Array.from({ length: 20 }, (_, n) => `<${n}>`);
    const written = call("write", { path: "mixed.txt", content: `${lines.join("\n")}\n` });
    const changes = lines.map((line, n) =>
      n % 2 === 0
        ? call("edit", { path: "mixed.txt", find: line, replace: `[${n}]` })
        : call("patch", { operation: { type: "update_file", path: "mixed.txt", diff: `@@\n-${line}\n+[${n}]\n` } }),
    );
    await Promise.all([written, ...changes]);
    const expected = lines.map((_, n) => `[${n}]`).join("\n");
    expect(readFileSync(join(workspace.root, "mixed.txt"), "utf8")).to.equal(`${expected}\n`);
    const failed = failure("edit", { path: "mixed.txt", find: "not there", replace: "" });
    const after = call("edit", { path: "mixed.txt", find: "[0]", replace: "after" });
    expect((await failed).code).to.equal("tool_failed");
    expect(await after, "a failure holds nobody up").to.have.property("line", 1);
  });

  it("a changed file keeps its mode, whatever the umask of the service", async () => {
    const mode = (path: string) => statSync(join(workspace.root, path)).mode & 0o7777;
    for (const [path, bits] of [
      ["readme.md", 0o666],
      ["src/main.ts", 0o775],
      ["src/deep/note.txt", 0o600],
    ] as const) {
      chmodSync(join(workspace.root, path), bits);
      await call("write", { path, content: "one\n" });
      expect(mode(path), `written ${path}`).to.equal(bits);
      await call("edit", { path, find: "one", replace: "two" });
      expect(mode(path), `edited ${path}`).to.equal(bits);
      await call("patch", { operation: { type: "update_file", path, diff: "@@\n-two\n+three\n" } });
      expect(mode(path), `patched ${path}`).to.equal(bits);
    }
  });

  it("creates, changes and deletes by a patch, and says what it did", async () => {
    const patch = (type: string, path: string, diff?: string) =>
      call("patch", { operation: { type, path, ...(diff === undefined ? {} : { diff }) } });
    const refused = (type: string, path: string, diff?: string) =>
      failure("patch", { operation: { type, path, ...(diff === undefined ? {} : { diff }) } });
    expect(await patch("create_file", "a/b.txt", "+one\n+two\n")).to.equal("created a/b.txt (8 bytes)");
    expect(readFileSync(join(workspace.root, "a/b.txt"), "utf8")).to.equal("one\ntwo\n");
    expect((await refused("create_file", "a/b.txt", "+x")).message).to.include("already exists");
    expect(await patch("update_file", "a/b.txt", "@@\n-two\n")).to.equal("updated a/b.txt (4 bytes)");
    expect(await patch("delete_file", "a/b.txt")).to.equal("deleted a/b.txt");
    expect(readdirSync(join(workspace.root, "a"))).to.deep.equal([]);
    expect((await refused("delete_file", "a/b.txt")).message).to.include("does not exist");
    expect((await refused("delete_file", "a")).message).to.include("not a regular file");
    expect(await refused("delete_file", "link-file")).to.include({ code: "tool_denied" });
    expect(readdirSync(workspace.root)).to.include("link-file");
  });

  it("a cancelled call stops listing and searching", async () => {
    for (const [name, input] of [
      ["list", {}],
      ["search", { text: "x" }],
    ] as const) {
      const tool = toolNamed(source, `files_${name}`);
      const cancelled = callTool(tool, input, { signal: AbortSignal.abort(new Error("enough")) });
      expect(await cancelled.then(String, ({ message }) => message), name).to.equal("enough");
    }
  });

  it("lists and finds exactly as much as it may without calling it cut", async () => {
    const all = ((await call("list", {})) as { entries: unknown[] }).entries.length;
    for (const [maxEntries, truncated] of [
      [all, false],
      [all - 1, true],
    ] as const) {
      const limited = await open(workspace, { maxEntries });
      expect((await callTool(toolNamed(limited, "files_list"), {})).output).to.have.property("truncated", truncated);
      await limited.close();
    }
    const few = await open(workspace, { maxEntries: 2 });
    writeFileSync(join(workspace.root, "many.txt"), "hit\nhit\nhit\n");
    const { output } = await callTool(toolNamed(few, "files_search"), { text: "hit" });
    expect(output).to.deep.equal({
      matches: [1, 2].map((line) => ({ path: "many.txt", line, text: "hit" })),
      truncated: true,
    });
    await few.close();
    writeFileSync(join(workspace.root, "long.txt"), `${"y".repeat(400)}needle\n`);
    expect(await call("search", { text: "NEEDLE" })).to.have.nested.property("matches[0].text", "y".repeat(300));
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
