import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import files from "../../../plugins/files/index.ts";
import type { ToolSource } from "../../../src/core/ports/tool.ts";
import { callTool, testPluginContext, toolNamed } from "../../../src/testing.ts";
import { isSlow } from "../../sweep.ts";
import { escapes, systemEscapes } from "./escapes.ts";
import { makeWorkspace, secret, type Workspace } from "./workspace.ts";

const operations: readonly (readonly [string, Record<string, unknown>])[] = [
  ["read", {}],
  ["list", { depth: 5 }],
  ["search", { text: "SECRET" }],
  ["write", { content: "escaped" }],
  ["edit", { find: "SECRET", replace: "escaped" }],
];
/** What would write goes nowhere near the system's own files, in case it succeeds. */
const attemptsOf = (name: string, base: string): string[] =>
  name === "write" || name === "edit" ? escapes(base) : [...escapes(base), ...systemEscapes()];

describe("files against escapes", () => {
  let workspace: Workspace;
  let source: ToolSource & { close(): Promise<void> };

  before(async () => {
    workspace = makeWorkspace();
    const context = testPluginContext({ name: "files", folder: workspace.base });
    source = (await files.create(files.options.parse({ root: "root", write: true }), context)) as typeof source;
  });
  after(async () => {
    await source.close();
    workspace.remove();
  });

  /** What a call gave away: its output or its error, as one text. */
  const outcome = async (name: string, input: Record<string, unknown>): Promise<string> => {
    try {
      return `ok ${JSON.stringify((await callTool(toolNamed(source, `files_${name}`), input)).output)}`;
    } catch (thrown) {
      return `failed ${String(thrown)} ${JSON.stringify(thrown)}`;
    }
  };
  const outsideIsUntouched = () => {
    expect(readdirSync(workspace.outside).sort()).to.deep.equal(["inner", "secret.txt"]);
    expect(readFileSync(join(workspace.outside, "secret.txt"), "utf8")).to.equal(`${secret}\n`);
    expect(readFileSync(join(workspace.outside, "inner/secret.txt"), "utf8")).to.equal(`${secret}\n`);
    expect(readdirSync(workspace.base).sort()).to.deep.equal(["outside", "root", "root-twin", "slash"]);
    expect(readFileSync(join(workspace.base, "slash/etc/passwd"), "utf8")).to.equal(secret);
    expect(existsSync(join(workspace.root, ".git/hooks/pre-commit"))).to.equal(false);
    expect(readFileSync(join(workspace.root, ".env"), "utf8")).to.contain(secret);
  };

  for (const [name, input] of operations) {
    it(`${name} leads nowhere by ${attemptsOf(name, "").length} paths`, async () => {
      for (const attempt of attemptsOf(name, workspace.base)) {
        const told = await outcome(name, { ...input, path: attempt });
        expect(told, attempt).not.to.contain(secret);
        expect(told, attempt).not.to.contain("root:x:");
        if (name === "read" || name === "edit") expect(told, attempt).to.match(/^failed/);
        if (name === "write" && told.startsWith("ok")) expect(isInside(workspace, attempt), attempt).to.equal(true);
      }
      outsideIsUntouched();
    });
  }

  for (const type of ["create_file", "update_file", "delete_file"]) {
    it(`a patch to ${type} leads nowhere by ${escapes("").length} paths`, async () => {
      const diff = type === "create_file" ? "+escaped" : "@@\n-SECRET\n+escaped";
      for (const path of escapes(workspace.base)) {
        const operation = type === "delete_file" ? { type, path } : { type, path, diff };
        const told = await outcome("patch", { operation });
        expect(told, path).not.to.contain(secret);
        const left = type !== "delete_file" && told.startsWith("ok");
        if (left) expect(isInside(workspace, path), path).to.equal(true);
      }
      outsideIsUntouched();
    });
  }

  it("2000 generated paths of dots, slashes, links and names lead nowhere", async () => {
    const piece = fc.constantFrom(
      "..",
      ".",
      "",
      "/",
      "//",
      "src",
      "deep",
      "link-folder",
      "link-slash",
      "link-proc",
      "outside",
      "secret.txt",
      "root",
      "etc",
      "passwd",
      "~",
      "\\",
      "...",
      "%2e%2e",
      "inner",
      "cwd",
      "link-to-link",
    );
    const path = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join("/"));
    await fc.assert(
      fc.asyncProperty(path, fc.constantFrom("read", "list", "search"), async (attempt, name) => {
        const input = name === "search" ? { path: attempt, text: secret } : { path: attempt };
        const told = await outcome(name, input);
        expect(told.replaceAll(attempt, "")).not.to.match(/SECRET-7f3a9c|root:x:/);
        expect(told).not.to.contain("root-twin");
      }),
      { numRuns: 2_000 },
    );
    outsideIsUntouched();
  });

  const swaps = isSlow ? 200 : 50;
  it(`a file swapped for a link while it is used leads nowhere, in ${swaps * 3} tries`, async () => {
    writeFileSync(join(workspace.root, "flip"), "harmless");
    const swapper = await startSwapper(workspace, "../outside/secret.txt");
    let inside = 0;
    try {
      for (let attempt = 0; attempt < swaps; attempt++) {
        const read = await outcome("read", { path: "flip" });
        expect(read).not.to.contain(secret);
        if (read.includes("harmless")) inside++;
        await outcome("edit", { path: "flip", find: "SECRET", replace: "escaped" });
        const found = await outcome("search", { path: "", text: "SECRET" });
        expect(found).not.to.contain(secret);
      }
    } finally {
      const gone = once(swapper, "exit");
      swapper.kill("SIGKILL");
      await gone;
    }
    expect(swapper.signalCode, "the swapper must have swapped to the end").to.equal("SIGKILL");
    expect(inside, "the race must also be won by the real file now and then").to.be.above(0);
    expect(readFileSync(join(workspace.outside, "secret.txt"), "utf8")).to.equal(`${secret}\n`);
    for (const name of ["flip", "flip-link", "flip-real"]) rmSync(join(workspace.root, name), { force: true });
  });

  it("a folder swapped for a link while it is used leads nowhere, in 600 tries", async () => {
    mkdirSync(join(workspace.root, "flip"));
    writeFileSync(join(workspace.root, "flip/secret.txt"), "harmless");
    const swapper = await startSwapper(workspace);
    let inside = 0;
    try {
      for (let attempt = 0; attempt < 300; attempt++) {
        const read = await outcome("read", { path: "flip/secret.txt" });
        expect(read).not.to.contain(secret);
        if (read.includes("harmless")) inside++;
        await outcome("edit", { path: "flip/secret.txt", find: "SECRET", replace: "escaped" });
      }
    } finally {
      const gone = once(swapper, "exit");
      swapper.kill("SIGKILL");
      await gone;
    }
    expect(swapper.signalCode, "the swapper must have swapped to the end").to.equal("SIGKILL");
    expect(inside, "the race must also be won by the real folder now and then").to.be.above(0);
    expect(readFileSync(join(workspace.outside, "secret.txt"), "utf8")).to.equal(`${secret}\n`);
  });
});

/** Full-width dots, percent signs and the like are plain names: a file of that name in the root is no escape. */
const isInside = (workspace: Workspace, attempt: string): boolean => existsSync(join(workspace.root, attempt));

async function startSwapper(workspace: Workspace, target = "../outside"): Promise<ChildProcess> {
  const script = `
    const fs = require("fs");
    process.chdir(${JSON.stringify(workspace.root)});
    fs.symlinkSync(${JSON.stringify(target)}, "flip-link");
    console.log("swapping");
    const swap = fs.renameSync;
    for (;;) {
      swap("flip", "flip-real"); swap("flip-link", "flip");
      swap("flip", "flip-link"); swap("flip-real", "flip");
    }`;
  const swapper = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(swapper.stdout, "data");
  return swapper;
}
