// The MCP conformance suite against the plugin mcp (as a client) and the channel mcp (as a server), and the inspector's command line.
// Installs both into a cache outside the repository. Fails on a scenario that test/mcp/expected.mjs does not explain.
//   npm run test:mcp [-- client|server|modern|inspector …]     only these parts
//   VENTURI_MCP=FOLDER                                         where the suite is installed; ~/.cache/venturi-mcp when absent
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { configuration } from "../test/mcp/agents.mjs";
import * as expected from "../test/mcp/expected.mjs";

const root = resolve(fileURLToPath(new URL("..", import.meta.url)));
const cache = process.env.VENTURI_MCP ?? join(homedir(), ".cache", "venturi-mcp");
const versions = { stable: "0.1.16", next: "0.2.0-alpha.12", inspector: "2.12.0" };
const port = 47390;
const url = `http://127.0.0.1:${port}/mcp`;
const chosen = process.argv.slice(2);
const isWanted = (part) => chosen.length === 0 || chosen.includes(part);

function install(place, name, version) {
  const folder = join(cache, `${place}-${version}`);
  if (!existsSync(join(folder, "node_modules"))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    const { status, stderr } = spawnSync("npm", ["install", `${name}@${version}`], { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`${name} cannot be installed: ${stderr.slice(-500)}`);
  }
  return join(folder, "node_modules", name);
}

const run = (script, args) => {
  const { stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8", maxBuffer: 1 << 28 });
  return stdout + stderr;
};

/** Names of the suite's scenarios for one side; those of a revision where one is given. */
function scenarios(suite, side, revision = "") {
  const [, servers = "", clients = ""] = run(suite, ["list"]).split(/^(?:Server|Client) scenarios.*$/m);
  const lines = (side === "server" ? servers : clients).split(/^\S/m)[0].matchAll(/^ {2}- (\S+) \[(.*)\]$/gm);
  return [...lines].filter(([, , revisions]) => revisions.includes(revision)).map(([, name]) => name);
}

let isRed = false;

function table(title, names, { explained, test }) {
  console.log(`\n## ${title}\n\n| scenario | result | checks | |\n| --- | --- | --- | --- |`);
  let passed = 0;
  for (const name of names) {
    const text = test(name);
    const checks = /Passed: (\d+\/\d+)/.exec(text)?.[1] ?? "none";
    const ok = /Passed: (\d+)\/\1, 0 failed, 0 warnings/.test(text);
    if (ok) passed++;
    const why = explained[name];
    const isNews = ok ? why !== undefined : why === undefined;
    if (isNews) isRed = true;
    const remark = ok
      ? isNews
        ? "NEWS: it passes"
        : ""
      : (why ?? `NEWS: ${/(?:Error|Warning): (.*)/.exec(text)?.[1] ?? ""}`);
    console.log(`| ${name} | ${ok ? "pass" : "fail"} | ${checks} | ${remark.replaceAll("|", "/")} |`);
  }
  console.log(`\n${passed} of ${names.length} pass`);
}

const stable = join(install("conformance", "@modelcontextprotocol/conformance", versions.stable), "dist/index.js");
const next = join(install("conformance", "@modelcontextprotocol/conformance", versions.next), "dist/index.js");

if (isWanted("client")) {
  const command = `${process.execPath} ${join(root, "test/mcp/client.mjs")}`;
  table(`client, ${versions.stable}`, scenarios(stable, "client"), {
    explained: expected.client,
    test: (name) => run(stable, ["client", "--command", command, "--scenario", name, "--timeout", "60000"]),
  });
}

const folder = mkdtempSync(join(tmpdir(), "venturi-mcp-"));
const file = join(folder, "venturi.yaml");
writeFileSync(file, JSON.stringify(configuration({ port })));
const service = spawn(
  process.execPath,
  ["--no-warnings", join(root, "dist/src/cli/bin.js"), "start", "--config", file],
  {
    stdio: "ignore",
  },
);
try {
  await reachable();
  const test = (suite, more) => (name) => run(suite, ["server", "--url", url, "--scenario", name, ...more]);
  if (isWanted("server")) {
    table(`server, ${versions.stable}`, scenarios(stable, "server"), {
      explained: expected.server,
      test: test(stable, []),
    });
  }
  if (isWanted("modern")) {
    table(`server in 2026-07-28, ${versions.next}`, scenarios(next, "server", "2026-07-28"), {
      explained: expected.serverModern,
      test: test(next, ["--spec-version", "2026-07-28"]),
    });
  }
  if (isWanted("inspector")) inspect();
} finally {
  service.kill();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = isRed ? 1 : 0;

/** The inspector's command line lists and calls agents, over HTTP and over stdio. */
function inspect() {
  const inspector = install("inspector", "@modelcontextprotocol/inspector", versions.inspector);
  const bin = join(inspector, "..", "..", ".bin", "mcp-inspector");
  const ways = {
    http: [url, "--transport", "http"],
    stdio: [process.execPath, join(root, "dist/src/cli/bin.js"), "mcp", "-e", `VENTURI_CONFIG=${file}`],
  };
  console.log(`\n## inspector ${versions.inspector}\n`);
  for (const [way, target] of Object.entries(ways)) {
    for (const [method, ...more] of [["tools/list"], ["tools/call", "--tool-name", "test_simple_text"]]) {
      const args = ["--cli", ...target, "--method", method, ...more];
      const { stdout, stderr } = spawnSync(bin, args, { encoding: "utf8", timeout: 60_000 });
      const ok = stdout.includes(method === "tools/list" ? "test_simple_text" : "simple text response");
      if (!ok) isRed = true;
      console.log(`- ${way}, ${method}: ${ok ? "pass" : `fail: ${(stderr || stdout).slice(0, 300)}`}`);
    }
  }
}

async function reachable() {
  for (let attempt = 0; attempt < 100; attempt++) {
    const answer = await fetch(url, { method: "DELETE" }).catch(() => undefined);
    if (answer !== undefined) return;
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error("the service does not start");
}
