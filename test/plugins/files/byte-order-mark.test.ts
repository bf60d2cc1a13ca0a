import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import files from "../../../plugins/files/index.ts";
import { callTool, testPluginContext, toolNamed } from "../../../src/testing.ts";
import { makeWorkspace } from "./workspace.ts";

describe("a file that begins with a byte order mark", () => {
  const workspace = makeWorkspace();
  after(() => workspace.remove());

  it("keeps it when it is changed, and is read without it", async () => {
    const options = files.options.parse({ root: "root", write: true });
    const source = await files.create(options, testPluginContext({ name: "files", folder: workspace.base }));
    const path = "marked.csv";
    writeFileSync(join(workspace.root, path), "\ufeffa;b\r\n1;2\r\n");
    const call = async (tool: string, input: object) =>
      (await callTool(toolNamed(source, tool), input as Record<string, unknown>)).output;
    expect(await call("files_read", { path })).to.equal("a;b\r\n1;2\r\n");
    await call("files_edit", { path, find: "1;2", replace: "1;3" });
    expect(readFileSync(join(workspace.root, path), "utf8")).to.equal("\ufeffa;b\r\n1;3\r\n");
    await call("files_patch", { operation: { type: "update_file", path, diff: "@@\n-a;b\n+a;c\n" } });
    expect(readFileSync(join(workspace.root, path), "utf8")).to.equal("\ufeffa;c\r\n1;3\r\n");
  });
});
