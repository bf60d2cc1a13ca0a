import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const entry = new URL("../../src/doors/venturi.js", import.meta.url).href;
const here = fileURLToPath(new URL(".", import.meta.url));

const loaded = `
import { registerHooks } from "node:module";
const modules = [];
registerHooks({ load: (url, context, next) => { modules.push(url); return next(url, context); } });
await import(${JSON.stringify(entry)});
console.log(JSON.stringify(modules));
`;
/** The time of the process and not of the clock: other processes on the machine do not count. */
const timed = `
const before = process.cpuUsage();
await import(${JSON.stringify(entry)});
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify((user + system) / 1000));
`;

function run(program: string): unknown {
  const words = ["--no-warnings", "--input-type=module", "-e", program];
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: here, encoding: "utf8" });
  expect(stderr).to.equal("");
  return JSON.parse(stdout);
}

describe('import "venturi"', () => {
  it("loads no package, and few modules of its own", () => {
    const own = (run(loaded) as string[]).filter((url) => url.startsWith("file:"));
    expect(own.filter((url) => url.includes("node_modules"))).to.deep.equal([]);
    expect(own.map((url) => url.replace(/^.*\/dist\//, ""))).to.include("src/index.js");
    expect(own.length).to.be.below(30);
  });

  it("takes at most 60 ms", () => {
    // The best of five: a busy machine is late now and then, a heavy import every time.
    const best = Math.min(...Array.from({ length: 5 }, () => run(timed) as number));
    expect(best).to.be.below(60);
  });
});
