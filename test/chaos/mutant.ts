import type { Cut } from "./plugin-copy.ts";

export type Mutation = "epoch" | "all";

/**
 * What is taken out of each journal's statements. `epoch`: the epoch check alone. `all`: the whole fence, and the uniqueness
 * that would stop a zombie by accident.
 */
export const mutations: Readonly<Record<"sqlite" | "postgres" | "nats", Record<Mutation, readonly Cut[]>>> = {
  sqlite: {
    epoch: [
      ["sql", "epoch = ?3 AND head = ?1 AND state", "head = ?1 AND state"],
      [
        "sql",
        "id = :id AND epoch = :epoch AND head = :head AND state",
        "id = :id AND :epoch >= 0 AND head = :head AND state",
      ],
    ],
    all: [
      ["sql", "WHERE id = ?5 AND epoch = ?3 AND head = ?1 AND state = 'running'", "WHERE id = ?5"],
      ["sql", "id = :id AND epoch = :epoch AND head = :head AND state = 'running'", "id = :id AND :epoch + :head >= 0"],
      ["sql", "INSERT INTO records", "INSERT OR REPLACE INTO records"],
    ],
  },
  nats: {
    // A worker that reads the tail anew, as it must after a signal, no longer sees whose it is.
    epoch: [["item", "tail.epoch === this.append.ownership.epoch && tail.state", "tail.state"]],
    all: [
      [
        "item",
        'tail.epoch === this.append.ownership.epoch && tail.state === "running" && tail.head === this.base',
        "tail.seq > 0",
      ],
      [
        "standing",
        "=> `Nats-Expected-Last-Subject-Sequence: ${seq}",
        "=> seq > 0 ? '' : `Nats-Expected-Last-Subject-Sequence: ${seq}",
      ],
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
