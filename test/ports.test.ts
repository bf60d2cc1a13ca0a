import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "@babel/parser";
import { expect } from "chai";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What a simulation runs: time, chance, turns of the event loop and the network come through `Clock`, `Chance` and the other ports. */
const simulated = ["src/core", "src/agent", "src/journal", "src/host/runs"];

/** Files that may reach past them, and why. */
const exceptions: Readonly<Record<string, { readonly uses: readonly string[]; readonly because: string }>> = {
  "src/core/ports/clock.ts": {
    uses: ["Date.now", "performance.now", "setImmediate", "setTimeout"],
    because: "it is the port",
  },
  "src/core/ports/chance.ts": { uses: ["Math.random", "randomUUID"], because: "it is the port" },
  "src/core/values/exact-json.ts": {
    uses: ["randomBytes"],
    because: "a placeholder that no text may contain; made once, when the program loads",
  },
  "src/core/journal/prune-steps.ts": {
    uses: ["node:timers/promises", "performance.now", "setTimeout"],
    because: "for journals with a disk: it rests as long as the disk's own work took",
  },
  "src/core/values/in-slices.ts": {
    uses: ["performance.now", "setImmediate", "setTimeout"],
    because: "for values of megabytes: it shares out this thread's own time, and measures that",
  },
  "src/journal/worker.ts": {
    uses: ["randomUUID"],
    because: "the name of a process, which no other may have, now or later; given by whoever wants another",
  },
};

describe("code that a simulation runs", () => {
  it("takes time, chance, turns and the network from its ports", () => {
    const files = globSync(
      simulated.map((folder) => `${folder}/**/*.{ts,tsx}`),
      { cwd: root },
    ).sort();
    expect(files).to.have.length.above(150);
    for (const folder of simulated) expect(files.some((file) => file.startsWith(`${folder}/`))).to.equal(true);
    const found = files.flatMap((file) => {
      const used = escapesOf(readFileSync(join(root, file), "utf8"));
      const allowed = exceptions[file]?.uses ?? [];
      return used.filter((what) => !allowed.includes(what)).map((what) => `${file} uses ${what}`);
    });
    expect(found).to.deep.equal([]);
  });

  it("has no exception that is not needed any more", () => {
    for (const [file, { uses }] of Object.entries(exceptions))
      expect(escapesOf(readFileSync(join(root, file), "utf8")), file).to.deep.equal([...uses].sort());
  });

  it("cannot hide it", () => {
    const spellings: Readonly<Record<string, readonly string[]>> = {
      "Date.now": ["Date.now()", "const f = { now: Date.now }", 'Date["now"]()', "globalThis.Date.now()"],
      "new Date()": ["new Date()", "Date()"],
      Date: ["const { now } = Date", "const d = Date"],
      "performance.now": ["performance.now()", "performance.now.bind(performance)"],
      performance: ["const { now } = performance"],
      "Math.random": ["Math.random()", "const r = Math.random"],
      Math: ["const { random } = Math"],
      setTimeout: ["setTimeout(f, 1)", "globalThis.setTimeout(f)", "const later = setTimeout"],
      setInterval: ["setInterval(f, 1)"],
      setImmediate: ["setImmediate(f)"],
      fetch: ["fetch(url)", "const get = fetch", "window.fetch(url)"],
      "crypto.randomUUID": ["crypto.randomUUID()"],
      "crypto.getRandomValues": ["globalThis.crypto.getRandomValues(x)"],
      randomBytes: ['import { randomBytes as bytes } from "node:crypto"'],
      "node:timers/promises": ['import "node:timers/promises"', 'const t = await import("node:timers/promises")'],
      "AbortSignal.timeout": ["AbortSignal.timeout(5)"],
      "process.hrtime": ["process.hrtime.bigint()"],
    };
    for (const [what, texts] of Object.entries(spellings))
      for (const text of texts) expect(escapesOf(text), text).to.include(what);
    const fine = [
      "new Date(at).toISOString(); Date.parse(text); Date.UTC(2020, 1)",
      "const at: Date = new Date(0); Math.floor(1.5)",
      "clock.now(); tool.fetch(url); const x = { fetch: 1, setTimeout() {} }; socket.setTimeout(0)",
      'import { createHash } from "node:crypto"; clock.after(5, f); AbortSignal.any([])',
    ];
    for (const text of fine) expect(escapesOf(text), text).to.deep.equal([]);
  });
});

interface Node {
  readonly type?: string;
  readonly name?: string;
  readonly value?: unknown;
  readonly computed?: boolean;
  readonly arguments?: readonly unknown[];
  readonly [key: string]: unknown;
}

const globals = new Set(["setTimeout", "setInterval", "setImmediate", "fetch"]);
const clocks = new Set(["Date", "performance", "Math"]);
const members: Readonly<Record<string, RegExp>> = {
  Date: /^now$/,
  performance: /./,
  Math: /^random$/,
  crypto: /^(random|getRandom)/,
  webcrypto: /^(random|getRandom)/,
  AbortSignal: /^timeout$/,
  process: /^hrtime$/,
};

/** By name, sorted, each once. */
function escapesOf(text: string): string[] {
  const { program } = parse(text, { sourceType: "module", plugins: ["typescript", "decorators-legacy"] as never });
  const found = new Set<string>();
  const visit = (value: unknown, parent: Node, key: string): void => {
    if (Array.isArray(value)) {
      for (const each of value) visit(each, parent, key);
      return;
    }
    if (typeof value !== "object" || value === null) return;
    const node = value as Node; // of the parsed tree
    const used = escapeOf(node, parent, key);
    if (used !== undefined) found.add(used);
    for (const [name, child] of Object.entries(node)) if (name !== "loc") visit(child, node, name);
  };
  visit(program, {}, "");
  return [...found].sort();
}

function escapeOf(node: Node, parent: Node, key: string): string | undefined {
  if (node.type === "StringLiteral" && /^(node:)?timers(\/promises)?$/.test(String(node.value))) return `${node.value}`;
  if (node.type === "ImportSpecifier") {
    const { name } = node.imported as Node;
    return name !== undefined && (globals.has(name) || /^(getR|r)andom/.test(name)) ? name : undefined;
  }
  if (node.type === "MemberExpression" || node.type === "OptionalMemberExpression") return memberOf(node);
  if (node.type === "NewExpression" || node.type === "CallExpression") {
    const { name } = node.callee as Node;
    return name === "Date" && (node.arguments?.length === 0 || node.type === "CallExpression")
      ? "new Date()"
      : undefined;
  }
  if (node.type !== "Identifier" || node.name === undefined || isNameOnly(parent, key)) return undefined;
  if (globals.has(node.name)) return node.name;
  return clocks.has(node.name) && key === "init" ? node.name : undefined;
}

/** `Date.now`, also as `globalThis.Date.now` and `Date["now"]`. */
function memberOf({ object, property, computed }: Node): string | undefined {
  const of = object as Node;
  const { name, value, type } = property as Node;
  const member = computed ? (type === "StringLiteral" ? String(value) : "*") : (name ?? "");
  const holder = of.type === "MemberExpression" ? String((of.property as Node).name) : (of.name ?? "");
  if (holder === "globalThis" || holder === "window") return globals.has(member) ? member : undefined;
  return members[holder]?.test(member) ? `${holder}.${member}` : undefined;
}

/** The name of a property or a type, which refers to nothing. */
const isNameOnly = (parent: Node, key: string): boolean =>
  (key === "property" && parent.computed !== true) ||
  (key === "key" && parent.computed !== true) ||
  key === "imported" ||
  key === "typeName";
