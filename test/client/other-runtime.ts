import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { VenturiClient } from "../../src/client/client.ts";
import { Restartable } from "./restartable.ts";

/** Follows a run in Deno or Bun while the service is killed and started again, and compares what it saw with the journal. */
const runtimes: Record<string, readonly string[]> = {
  deno: ["run", "--allow-net=127.0.0.1"],
  bun: ["run"],
  node: [],
};
const [name = ""] = process.argv.slice(2);
const entry = fileURLToPath(new URL("../../src/client/client.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "venturi-runtime-"));
const service = await Restartable.start();
let failed = false;
try {
  const bundle = await build({ entryPoints: [entry], bundle: true, format: "esm", platform: "neutral", write: false });
  writeFileSync(join(folder, "client.mjs"), bundle.outputFiles[0]?.text ?? "");
  for (const transport of ["sse", "websocket"]) {
    writeFileSync(
      join(folder, "main.mjs"),
      `import { VenturiClient } from "./client.mjs";
const client = new VenturiClient({ url: "${service.url}", transport: "${transport}", retry: { first: 20, longest: 100 } });
const run = await client.start({ agent: "slow", input: "go" });
const seqs = [];
for await (const event of run.events()) {
  seqs.push(event.seq);
  if (event.seq === 10) console.log("ten");
}
console.log(JSON.stringify({ run: run.id, seqs }));
`,
    );
    const child = spawn(name, [...(runtimes[name] ?? []), join(folder, "main.mjs")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    let restarted: Promise<void> | undefined;
    child.stdout.on("data", (bytes) => {
      said += bytes;
      if (said.startsWith("ten")) restarted ??= service.kill().then(() => service.begin());
    });
    const [status] = await once(child, "close");
    await restarted;
    const { run, seqs } = JSON.parse(said.split("\n")[1] ?? "{}") as { run: string; seqs: number[] };
    const { head } = await new VenturiClient({ url: service.url }).run(run).get();
    const exact = status === 0 && seqs.length === head && seqs.every((seq, index) => seq === index + 1);
    process.stdout.write(
      `${name}, ${transport}: ${exact ? "every event once" : "WRONG"} (${seqs.length} of ${head})\n`,
    );
    failed ||= !exact;
  }
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
