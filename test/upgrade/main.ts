import { parseArgs } from "node:util";
import { lastFormat, oldVersion } from "./old-version.ts";
import { upgrade } from "./upgrade.ts";

const { values } = parseArgs({
  options: {
    engine: { type: "string", multiple: true, default: ["sqlite", "postgres"] },
    /** A commit or tag: the version to upgrade from. */
    from: { type: "string", default: lastFormat },
    streams: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
  },
});

const old = oldVersion(values.from);
if (old === undefined) {
  process.stdout.write(`skipped: the commit ${values.from} is not in this checkout's history\n`);
} else {
  try {
    let found = 0;
    for (const engine of values.engine) {
      if (engine !== "sqlite" && engine !== "postgres")
        throw new Error(`${engine} is no journal that can be tested so`);
      const [streams = 20, seed = 1] = [values.streams, values.seed].map(Number);
      const { violations, ...report } = await upgrade({ engine, program: old.program, streams, seed });
      found += violations.length;
      process.stdout.write(`${JSON.stringify({ from: values.from, ...report, violations: violations.length })}\n`);
      for (const violation of violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
    }
    process.exitCode = found === 0 ? 0 : 1;
  } finally {
    old.remove();
  }
}
