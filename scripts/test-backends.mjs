// npm run test:backends: runs seen in real backends, each asked over its API.
//   --only jaeger,zipkin    these alone (jaeger, collector, zipkin, phoenix, prometheus)
//   --present               leaves out those of which a part would have to be fetched or built first
import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { backends, stopAll } from "./backends.mjs";

const top = new URL("..", import.meta.url).pathname;
const { values } = parseArgs({ options: { only: { type: "string" }, present: { type: "boolean" } } });
const wanted = values.only?.split(",") ?? Object.keys(backends);

for (const name of wanted) {
  const begin = backends[name];
  if (begin === undefined) throw new Error(`no backend "${name}"; there are ${Object.keys(backends).join(", ")}`);
  let env;
  try {
    env = await begin({ fetch: values.present !== true });
  } catch (error) {
    process.stderr.write(`left out: ${name} (${error.message})\n`);
    // What was asked for by name has to be there.
    if (values.only !== undefined && !values.present) process.exitCode = 1;
    await stopAll();
    continue;
  }
  const mocha = spawn(
    process.execPath,
    [
      `${top}node_modules/mocha/bin/mocha.js`,
      "--no-config",
      "--exit",
      "--timeout",
      "120000",
      `dist/test/backends/${name}.suite.js`,
    ],
    { cwd: top, stdio: "inherit", env: { ...process.env, ...env } },
  );
  const [code] = await once(mocha, "close");
  if (code !== 0) process.exitCode = code ?? 1;
  await stopAll();
}
