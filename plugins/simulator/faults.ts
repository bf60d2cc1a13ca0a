import { VenturiError } from "venturi/plugin";

/** `name[=value][@position][~probability]`; separated by commas or spaces. */
export interface Fault {
  readonly name: FaultName;
  readonly value: string | undefined;
  /** Undefined: not given; "?": drawn from the seed and the request. */
  readonly position: number | "?" | undefined;
  readonly probability: number;
}

interface Rule {
  readonly value?: "required" | "optional";
  readonly position?: "required" | "optional";
  readonly meaning: string;
}

/** All faults. `docs/simulator.md` lists the same. */
export const faultRules = {
  delay: { value: "required", meaning: "ms before the response's headers" },
  first: { value: "required", meaning: "ms between the headers and the first chunk" },
  pace: { value: "required", meaning: "ms between content chunks" },
  stall: { position: "required", meaning: "nothing more after this many chunks; the socket stays open" },
  pause: {
    value: "required",
    position: "required",
    meaning: "nothing for this many ms after this many chunks; then it goes on",
  },
  cut: { position: "required", meaning: "the body ends in good order after this many bytes" },
  drop: {
    position: "required",
    meaning: "the connection is closed (FIN) after this many bytes, without the body's end",
  },
  reset: { position: "required", meaning: "the connection is reset (RST) after this many bytes" },
  malformed: { position: "required", meaning: "the chunk with this number is not JSON" },
  error: {
    value: "optional",
    position: "required",
    meaning: "an error of this status inside the stream after this many chunks",
  },
  "unknown-event": { position: "optional", meaning: "an event nobody knows before the chunk with this number" },
  "split-utf8": { meaning: "every byte of a character beyond ASCII is a separate write" },
  "one-byte": { meaning: "every byte is a separate write" },
  crlf: { meaning: "lines end with CRLF" },
  comments: { meaning: "a keep-alive comment before every content chunk (SSE)" },
  "duplicate-index": { meaning: "all tool calls have the index 0" },
  "missing-id": { meaning: "tool calls have no id" },
  "late-usage": { meaning: "usage comes in its own chunk after the finish" },
  "missing-end": { meaning: "the format's own end is left out" },
  status: { value: "required", meaning: "an HTTP error of this status in place of an answer" },
  "rate-limit": { value: "optional", meaning: "429 with retry-after-ms and retry-after" },
  fail: { value: "required", meaning: "the first N requests of a key fail (N or N:status), then it goes well" },
  refuse: { value: "required", meaning: "the connection is reset and new ones are refused for this many ms" },
} as const satisfies Record<string, Rule>;

export type FaultName = keyof typeof faultRules;

const op = "simulator.fault";
const grammar = /^([a-z0-9-]+)(?:=([^@~]+))?(?:@(\d+|\?))?(?:~([\d.]+))?$/;

export function parseFaults(words: string): Fault[] {
  return words
    .split(/[,\s]+/)
    .filter((word) => word !== "")
    .map(parseFault);
}

function parseFault(word: string): Fault {
  const [, name = "", value, position, probability] = grammar.exec(word) ?? [];
  if (!isFaultName(name)) throw invalid(word, `the faults are ${Object.keys(faultRules).join(", ")}`);
  const rule: Rule = faultRules[name];
  checkPresence(word, "=value", { given: value, rule: rule.value });
  checkPresence(word, "@position", { given: position, rule: rule.position });
  if (value !== undefined && !/^\d+(\.\d+)?(:\d{3})?$/.test(value)) throw invalid(word, "its value is a number");
  const chance = probability === undefined ? 1 : Number(probability);
  if (!(chance >= 0 && chance <= 1)) throw invalid(word, "its probability is between 0 and 1");
  return {
    name,
    value,
    position: position === undefined || position === "?" ? position : Number(position),
    probability: chance,
  };
}

const isFaultName = (name: string): name is FaultName => Object.hasOwn(faultRules, name);

function checkPresence(word: string, what: string, found: { given: string | undefined; rule: Rule["value"] }): void {
  if (found.given === undefined && found.rule === "required") throw invalid(word, `it needs ${what}`);
  if (found.given !== undefined && found.rule === undefined) throw invalid(word, `it does not support ${what}`);
}

const invalid = (word: string, hint: string): VenturiError =>
  new VenturiError(op, "invalid_input", `"${word}" is not a fault: ${hint}`);
