import { textMessage } from "../../../src/core/model/messages.ts";
import type { RunRequest } from "../../../src/core/run/run-request.ts";

/** One configuration of everything that a life can be cut off in. */
export const config = (journal: string): string => `
version: 1
providers:
  demo:
    type: simulator
    pace: 5
    scenarios:
      - { name: talker, turns: [{ text: [The, " code", " is", " 4711."] }] }
      - { name: summary, turns: [{ text: ["The code is ", "4711."] }] }
      - name: asker
        turns: [{ calls: [{ name: ask, arguments: { question: "Which day?" } }] }, { text: [All, " set."] }]
      - name: keeper
        turns:
          - calls: [{ name: notes, arguments: { patch: [{ op: add, path: /likes/-, value: tea }], why: she said so } }]
          - { text: [Not, "ed."] }
      - name: recaller
        turns:
          - calls: [{ name: memorize, arguments: { text: "Ana drinks green tea" } }, { name: recall, arguments: { query: tea } }]
          - { text: [Not, "ed."] }
      - name: sleeper
        turns: [{ calls: [{ name: clock, arguments: {} }] }, { calls: [{ name: clock, arguments: {} }] }, { text: [Awake.] }]
memories:
  facts: { type: sqlite, path: ./facts.db }
models:
  talker: { chain: [demo/talker], contextTokens: 2000 }
tools:
  ask: { type: ask }
  clock: { type: clock }
  notes: { type: remember, scope: user, initial: { likes: [] } }
  memorize: { type: memorize, store: facts }
  recall: { type: recall, store: facts }
agents:
  talker: { model: talker, compaction: { by: summary, keep: 2, model: demo/summary } }
  asker: { model: demo/asker, tools: [ask] }
  keeper: { model: demo/keeper, tools: [notes] }
  recaller: { model: demo/recaller, tools: [memorize, recall], memory: { recall: { store: facts } } }
  sleeper: { model: demo/sleeper, tools: [clock] }
  closed: { model: demo/sleeper, tools: [clock] }
journal: ${journal}
channels: {}
telemetry: off
`;

export const lives = ["talker", "asker", "keeper", "recaller", "sleeper", "closed"] as const;
export type Life = (typeof lives)[number];

const long = "z".repeat(600);

export function requestOf(life: Life): RunRequest {
  const turns = Array.from({ length: 12 }, (_, turn) => [
    textMessage("user", turn === 2 ? `The code is 4711. ${long}` : `question ${turn} ${long}`),
    textMessage("assistant", `answer ${turn} ${long}`),
  ]).flat();
  if (life === "talker") return { agent: life, input: { messages: turns, text: "What is the code?" } };
  const text = life === "recaller" ? "Which tea does Ana drink?" : "go";
  return { agent: life, input: { text }, metadata: { user: "ana" }, session: life };
}
