import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";

const root = new URL("../../../", import.meta.url);
const bench = (name: string) => JSON.stringify(new URL(`bench/${name}.mjs`, root).href);

/** Prints the names of the classes that have an instance while a tool runs or text arrives, and none between two runs, after a full collection. */
const program = (snapshot: string) => `
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { writeHeapSnapshot } from "node:v8";
import adapter from ${bench("adapter")};
const upstream = fork(fileURLToPath(${bench("raw-upstream")}), { stdio: ["ignore", "ignore", "ignore", "ipc"], execArgv: [] });
const [port] = await once(upstream, "message");
const { run } = await adapter({ baseURL: "http://127.0.0.1:" + port + "/v1", variant: "venturi" });
const hooks = { text() {}, tool: () => "sunny" };
function living() {
  gc();
  const { snapshot, nodes, strings } = JSON.parse(readFileSync(writeHeapSnapshot(${JSON.stringify(snapshot)}), "utf8"));
  const { node_fields: fields, node_types: [types] } = snapshot.meta;
  const [type, name] = [fields.indexOf("type"), fields.indexOf("name")];
  const names = new Set();
  for (let at = 0; at < nodes.length; at += fields.length)
    if (types[nodes[at + type]] === "object") names.add(strings[nodes[at + name]]);
  return names;
}
for (let n = 0; n < 20; n++) await run("tool-200", hooks);
await new Promise((resolve) => setTimeout(resolve, 100));
const between = living();
const during = new Set();
const look = () => { for (const name of living()) during.add(name); };
await run("tool-200", { text() {}, tool: () => { look(); return "sunny"; } });
let texts = 0;
await run("tool-200", { text() { if (texts++ === 0) look(); }, tool: () => "sunny" });
console.log(JSON.stringify([...during].filter((name) => !between.has(name))));
upstream.kill();
process.exit();
`;

describe("between two runs", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-kept-"));
  after(() => rmSync(folder, { recursive: true }));

  it("an instance of each class of a run is kept, or a full collection would drop the class's compiled code", async function () {
    this.timeout(180_000);
    const file = join(folder, "runs.mjs");
    writeFileSync(file, program(join(folder, "snapshot.heapsnapshot")));
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", "--no-warnings", file]);
    const gone: string[] = JSON.parse(stdout);
    const sources = globSync("{src,plugins}/**/*.ts", { cwd: root.pathname, exclude: ["**/node_modules/**"] });
    const ours = new Set(
      sources.flatMap((path) =>
        [...readFileSync(new URL(path, root), "utf8").matchAll(/\bclass (\w+)/g)].map(([, name]) => name),
      ),
    );
    expect(gone.filter((name) => ours.has(name))).to.deep.equal([]);
  });
});
