// Makes docs/images/run.svg and trace.svg from a real run on the built-in simulator: `npm run pictures`. Needs util-linux's `script`.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { picture } from "./ansi-svg.mjs";

const columns = 108;
const question = "What time is it in Tokyo, and what is 17 * 23?";
const data = mkdtempSync(join(tmpdir(), "venturi-pictures-"));
const own = `--set dataFolder=${data} --set journal.path=${data}/venturi.db`;

mkdirSync("docs/images", { recursive: true });
try {
  const run = await onTerminal(`node dist/src/cli/bin.js run assistant '${question}' ${own}`);
  save("run", `npx venturi run assistant "${question}"`, run);
  await withService(async (url) => {
    const id = await runOver(url);
    save(
      "trace",
      `npx venturi trace ${id}`,
      await onTerminal(`node dist/src/cli/bin.js trace ${id} --url ${url} ${own}`),
    );
  });
} finally {
  rmSync(data, { recursive: true, force: true });
}

function save(name, command, output) {
  const file = `docs/images/${name}.svg`;
  writeFileSync(
    file,
    picture({ title: command, text: `\u001b[32m$\u001b[0m \u001b[1m${command}\u001b[0m\n${output}`, columns }),
  );
  process.stdout.write(`${file}\n`);
}

/** What the command writes to a terminal of this width, colours and all. */
async function onTerminal(command) {
  const whole = `stty cols ${columns} rows 60 && ${command}`;
  const { stdout } = await promisify(execFile)("script", ["-qfec", whole, "/dev/null"], {
    env: { ...process.env, TERM: "xterm-256color", ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" },
  });
  return stdout;
}

async function withService(use) {
  const words = ["dist/src/cli/bin.js", "start", "--set", "server.listen=127.0.0.1:0", ...own.split(" ")];
  const service = spawn(process.execPath, words, {
    env: { ...process.env, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" },
  });
  try {
    let said = "";
    for await (const piece of service.stderr) {
      said += piece;
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (url === undefined) continue;
      await use(url);
      break;
    }
  } finally {
    service.kill();
    await once(service, "exit");
  }
}

async function runOver(url) {
  const body = JSON.stringify({ agent: "assistant", input: question });
  const post = () => fetch(`${url}/v1/runs`, { method: "POST", body, headers: { "content-type": "application/json" } });
  await post(); // the first one pays for loading the provider
  return (await (await post()).json()).run;
}
