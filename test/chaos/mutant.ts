import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Mutation = "epoch" | "all";

/**
 * What is taken out of each journal's statements. `epoch`: the epoch check alone. `all`: the whole fence, and the uniqueness
 * that would stop a zombie by accident.
 */
const cuts = {
  sqlite: {
    epoch: [
      ["WHERE run = ? AND epoch = ? AND head = ? AND state", "WHERE run = ? AND ? >= 0 AND head = ? AND state"],
      [
        "WHERE run = :run AND epoch = :epoch AND head = :base AND state",
        "WHERE run = :run AND :epoch >= 0 AND head = :base AND state",
      ],
    ],
    all: [
      ["WHERE run = ? AND epoch = ? AND head = ? AND state = 'running'", "WHERE run = ? AND ? >= 0 AND ? >= 0"],
      [
        "WHERE run = :run AND epoch = :epoch AND head = :base AND state = 'running'",
        "WHERE run = :run AND :epoch + :base >= 0",
      ],
      ["INSERT INTO records", "INSERT OR REPLACE INTO records"],
    ],
  },
  postgres: {
    epoch: [
      [
        "AND r.epoch = i.epoch AND r.head = i.base AND r.state = 'running'",
        "AND r.head = i.base AND r.state = 'running'",
      ],
    ],
    all: [
      ["WHERE r.run = i.run AND r.epoch = i.epoch AND r.head = i.base AND r.state = 'running'", "WHERE r.run = i.run"],
      [
        "FROM moved WHERE head > base",
        "FROM moved WHERE head > base ON CONFLICT (run, first) DO UPDATE SET last = excluded.last, epoch = excluded.epoch, body = excluded.body",
      ],
    ],
  },
} as const;

/** A copy of a journal's plugin that lets writers in whose run it is no more. */
export function mutantOf(
  engine: keyof typeof cuts,
  mutation: Mutation,
): { type: string; path: string; remove(): void } {
  const source = fileURLToPath(new URL(`../../plugins/${engine}`, import.meta.url));
  const copy = fileURLToPath(new URL(`./mutant-${engine}`, import.meta.url));
  cpSync(source, copy, { recursive: true });
  patch(`${copy}/index.js`, [[`name: "${engine}"`, `name: "mutant-${engine}"`]]);
  patch(`${copy}/sql.js`, cuts[engine][mutation]);
  return {
    type: `mutant-${engine}`,
    path: `${copy}/index.js`,
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}

function patch(file: string, cuts: readonly (readonly [string, string])[]): void {
  let text = readFileSync(file, "utf8");
  for (const [from, to] of cuts) {
    if (!text.includes(from)) throw new Error(`${file} no longer has: ${from}`);
    text = text.replaceAll(from, to);
  }
  writeFileSync(file, text);
}
