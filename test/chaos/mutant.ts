import type { Cut } from "./plugin-copy.ts";

export type Mutation = "epoch" | "all";

/**
 * What is taken out of each journal's statements. `epoch`: the epoch check alone. `all`: the whole fence, and the uniqueness
 * that would stop a zombie by accident.
 */
export const mutations: Readonly<Record<"sqlite" | "postgres", Record<Mutation, readonly Cut[]>>> = {
  sqlite: {
    epoch: [
      ["sql", "WHERE run = ? AND epoch = ? AND head = ? AND state", "WHERE run = ? AND ? >= 0 AND head = ? AND state"],
      [
        "sql",
        "WHERE run = :run AND epoch = :epoch AND head = :base AND state",
        "WHERE run = :run AND :epoch >= 0 AND head = :base AND state",
      ],
    ],
    all: [
      ["sql", "WHERE run = ? AND epoch = ? AND head = ? AND state = 'running'", "WHERE run = ? AND ? >= 0 AND ? >= 0"],
      [
        "sql",
        "WHERE run = :run AND epoch = :epoch AND head = :base AND state = 'running'",
        "WHERE run = :run AND :epoch + :base >= 0",
      ],
      ["sql", "INSERT INTO records", "INSERT OR REPLACE INTO records"],
    ],
  },
  postgres: {
    epoch: [
      [
        "sql",
        "AND r.epoch = i.epoch AND r.head = i.base AND r.state = 'running'",
        "AND r.head = i.base AND r.state = 'running'",
      ],
    ],
    all: [
      [
        "sql",
        "WHERE r.run = i.run AND r.epoch = i.epoch AND r.head = i.base AND r.state = 'running'",
        "WHERE r.run = i.run",
      ],
      [
        "sql",
        "FROM moved WHERE head > base",
        "FROM moved WHERE head > base ON CONFLICT (run, first) DO UPDATE SET last = excluded.last, epoch = excluded.epoch, body = excluded.body",
      ],
    ],
  },
};
