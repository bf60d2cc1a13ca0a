// Claude Code, `-p`, as its documentation sets up a gateway: it reads a PDF and an image and tells what came of it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const home = mkdtempSync(join(tmpdir(), "claude-"));
try {
  writeFileSync(join(home, "page.pdf"), pdf("venturi was here"));
  writeFileSync(join(home, "dot.png"), Buffer.from(png, "base64"));
  const { stdout, stderr, status } = spawnSync(
    "claude",
    ["-p", "Read page.pdf and dot.png.", "--model", process.env.MODEL, "--allowedTools", "Read"],
    { cwd: home, env: { ...process.env, HOME: home }, input: "", encoding: "utf8", timeout: 180_000 },
  );
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /Both were read/, stdout + stderr);
  const asked = await askedOf(process.env.MODEL);
  for (const type of ["application/pdf", "image/png"]) assert.match(asked, new RegExp(`"mediaType":"${type}"`), type);
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** What the runs of the agent were asked, as their events tell it. */
async function askedOf(agent) {
  const base = `${process.env.VENTURI_URL}/v1/runs`;
  const { runs } = await (await fetch(`${base}?agent=${agent}`)).json();
  const events = await Promise.all(runs.map(async ({ run }) => (await fetch(`${base}/${run}/events`)).text()));
  return events.join("\n");
}

/** One page with one line on it. */
function pdf(line) {
  const stream = `BT /F1 24 Tf 72 720 Td (${line}) Tj ET`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
    `<</Length ${stream.length}>>stream\n${stream}\nendstream`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
  ];
  let file = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = places.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const end = `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
  return `${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${end}`;
}
