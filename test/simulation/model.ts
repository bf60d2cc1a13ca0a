import type { Code } from "../../src/core/errors/codes.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { GenerationContext, GenerationRequest, Provider } from "../../src/core/model/provider.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import { forbidden } from "./guard.ts";
import type { Ledger } from "./ledger.ts";
import { used, usedAlone } from "./money.ts";
import type { Profile } from "./profile.ts";
import { markOf, type Requests } from "./requests.ts";
import { proofOf, refusal } from "./thoughts.ts";
import { type WireName, wireNames } from "./wire-names.ts";
import { WireAnswer } from "./wires.ts";
import type { Life, World } from "./world.ts";

interface Parts {
  readonly world: World;
  readonly life: Life;
  readonly profile: Profile;
  readonly ledger: Ledger;
  readonly requests: Requests;
  /** Of the configuration: later ones have other tools. */
  readonly number: number;
  readonly isCalm: () => boolean;
}

const failures: readonly Code[] = ["unavailable", "llm_error", "rate_limited", "stream_error", "idle_timeout"];
/** One object: what is made of a schema is kept with it. */
const parameters = { type: "object", properties: { n: { type: "number" }, note: { type: "string" } } };
const memories = ["remember", "memorize", "remember", "memorize", "recall"];
/** Rounds with calls before the model answers. */
const mostRounds = 2;

/** A model that streams text and calls in any interleaving, late, and sometimes not to the end. */
export function modelOf({ world, life, profile, ledger, requests, number, isCalm }: Parts, name = "p0"): Provider {
  const { decisions } = world;
  const wire = wireOf(profile.wire, name);
  return {
    capabilities: { streaming: true, tools: true, vision: false, reasoning: profile.reasons },
    async *stream(request, context) {
      const over = requests.begin({ process: life.name, model: name, number }, request, context);
      try {
        yield* answer(request, context);
      } finally {
        over();
      }
    },
  };

  /** Without tools there is nothing to call: summaries, and the agent of schedules. */
  async function* answer(request: GenerationRequest, { signal, round, run }: GenerationContext) {
    const { tools } = request;
    const bytes = wire === undefined ? undefined : new WireAnswer(wire, decisions, requests.answers);
    bytes?.checkAsked(request, (what) => world.violated(`${run}: ${what}`));
    const rounds = round - 1;
    const wanted = profile.defers ? 1 : 0;
    const wantsCalls =
      tools.length > 0 && (rounds <= wanted || (rounds < wanted + mostRounds && decisions.chance(0.3)));
    const offered = new Set(tools.map((tool) => tool.name));
    const calls = wantsCalls
      ? Array.from({ length: decisions.between(profile.hurried ? 3 : 1, 3) }, (_, index) => callOf(index, offered))
      : [];
    const mayRefuse = !isCalm() && calls.length === 0 && bytes?.mayRefuse !== false;
    const refuses = mayRefuse && decisions.chance(profile.refuses);
    const steps = [...thoughtsOf(rounds), ...interleaved([textOf(rounds, refuses), ...calls])];
    const finish = refuses ? ("refusal" as const) : calls.length === 0 ? ("stop" as const) : ("tool_calls" as const);
    const usage = tools.length > 0 ? used : usedAlone;
    const end: Delta[] = [
      { type: "usage", usage },
      { type: "done", finish },
    ];
    const reads =
      bytes?.reads(steps, finish, { id: world.uuid(), model: name, usage }) ??
      [...steps.map((delta) => [delta]), end].map((deltas) => () => deltas);
    for (const read of reads) {
      if (decisions.chance(0.7)) await world.io(life, "model", decisions.below(400));
      signal.throwIfAborted();
      const fails = !isCalm() && decisions.chance(profile.providerFails);
      if (fails && (bytes === undefined || decisions.chance(0.5)))
        throw new VenturiError("provider.stream", decisions.pick(failures), "planted");
      const deltas = fails && bytes !== undefined ? bytes.fail() : read();
      if (deltas.length > 0) yield deltas;
      if (bytes?.over) return;
    }
  }

  function textOf(round: number, refuses: boolean): Delta[] {
    const word = profile.guarded !== "none" && decisions.chance(0.3) ? pieces(forbidden) : [];
    const texts = Array.from({ length: decisions.between(0, 3) }, (_, at) => `r${round}.${at}${markOf(name)}`);
    if (refuses) return [refusal, ...texts, ...word].map((text) => ({ type: "refusal", text }));
    // A summary of nothing is none.
    if (texts.length === 0 && profile.contextTokens > 0) texts.push(markOf(name));
    return [...texts, ...word].map((text) => ({ type: "text", text }));
  }

  /** Each part whole, with a proof that it is: what a vendor takes back. */
  function thoughtsOf(round: number): Delta[] {
    if (!profile.reasons || decisions.chance(0.3)) return [];
    const parts = decisions.between(1, 3);
    return Array.from({ length: parts }, (_, part): Delta[] => {
      const word = profile.guarded !== "none" && decisions.chance(0.3) ? forbidden : "";
      const text = `t${round}.${part}${word}${markOf(name)}`;
      const [first = "", ...rest] = pieces(text).reverse();
      const of = parts === 1 ? {} : { part };
      return [
        ...rest.map((piece) => ({ type: "reasoning" as const, text: piece, ...of })),
        { type: "reasoning", text: first, signature: proofOf(name, text), ...of },
      ];
    }).flat();
  }

  /** Opened without arguments, then in fragments: what came in between once made a call run on arguments that nobody sent. */
  function callOf(index: number, offered: ReadonlySet<string>): Delta[] {
    const some = [number === 0 ? "look" : "stock", "refund", "pay", "stock", "refund", "now"];
    if (profile.asks) some.push("consult", "consult", "consult");
    if (profile.skilled) some.push("read_skill", "read_skill", "read_skill");
    const name = profile.hurried ? "refund" : decisions.pick(profile.remembers ? [...some, ...memories] : some);
    const id = `c${index}`;
    if (!offered.has(name)) {
      const query = JSON.stringify({ query: `${name} ${decisions.pick(some)}` });
      return [{ type: "tool_call", index, id, name: "find_tools", arguments: query, sealed: true }];
    }
    const note = profile.guarded !== "none" && decisions.chance(0.2) ? forbidden : undefined;
    const text = name === "now" ? decisions.pick(["", "{}"]) : ledger.newArguments(name, note);
    if (name !== "now" && wire === undefined && decisions.chance(0.1)) return placeholder(index, { id, name, text });
    return [
      { type: "tool_call", index, id, name },
      ...pieces(text).map((piece): Delta => ({ type: "tool_call", index, arguments: piece })),
      ...(decisions.chance(0.5) ? [{ type: "tool_call", index, sealed: true } as const] : []),
    ];
  }

  function pieces(text: string): string[] {
    const cut = decisions.below(text.length);
    return [text.slice(0, cut), text.slice(cut)].filter((piece) => piece !== "");
  }

  /** As some gateways send it. */
  function placeholder(index: number, { id, name, text }: { id: string; name: string; text: string }): Delta[] {
    return [
      { type: "tool_call", index, id, name, arguments: "{}" },
      { type: "tool_call", index, arguments: text, replace: true },
    ];
  }

  /** Calls open in the order of their index, as decoders number them. */
  function interleaved(sequences: readonly Delta[][]): Delta[] {
    const left = sequences.map((sequence) => [...sequence]);
    const merged: Delta[] = [];
    let opened = 0;
    for (;;) {
      const open = left.filter((sequence, at) => sequence.length > 0 && (at <= opened + 1 || at === 0));
      if (open.length === 0) return merged;
      const [delta] = decisions.pick(open).splice(0, 1);
      if (delta?.type === "tool_call" && delta.name !== undefined) opened = delta.index + 1;
      if (delta !== undefined) merged.push(delta);
    }
  }
}

/** Of two models each has its own. */
function wireOf(first: WireName | undefined, model: string): WireName | undefined {
  if (first === undefined) return undefined;
  return wireNames[(wireNames.indexOf(first) + Number(model.slice(1))) % wireNames.length];
}

/** Tools whose true effects the ledger counts: an effect happens at a step of its own, between the request and the answer. */
export function toolsOf({ world, life, profile, ledger, number }: Parts): Tool[] {
  const { decisions } = world;
  const make = (name: string, more: Partial<Tool>): Tool => ({
    name,
    description: name,
    parameters,
    effect: "pure",
    async call(input, { run, call }) {
      await world.io(life, `${name} is asked`, decisions.below(50));
      ledger.acted({ tool: name, run, call, input });
      await world.io(life, `${name} answers`, decisions.below(300));
      return profile.contextTokens === 0 ? `${name} done` : `${name} done${" and so on".repeat(60)}`;
    },
    ...more,
  });
  const consult = make("consult", {
    effect: "idempotent",
    resumable: true,
    async call(input, { run, call, ask }) {
      ledger.acted({ tool: "consult", run, call, input });
      const verdict = await ask({ id: "many", kind: "input", name: "consult", message: "how many?" });
      ledger.told({ run, call }, verdict);
      await world.io(life, "consult answers", decisions.below(300));
      return verdict.approved ? `consult: ${verdict.answer}` : "consult: nobody knows";
    },
  });
  return [
    ...(number === 0 ? [make("look", {})] : []),
    ...(profile.asks ? [consult] : []),
    make("now", {}),
    make("stock", { effect: "idempotent" }),
    make("pay", { effect: "effectful", ...(number === 0 ? {} : { approval: "always" }) }),
    make("refund", { effect: "effectful", approval: "always" }),
  ];
}
