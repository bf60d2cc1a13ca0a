import { summaryIn } from "../../src/agent/state/folded.ts";
import type { Message } from "../../src/core/model/messages.ts";
import type { GenerationContext, GenerationRequest } from "../../src/core/model/provider.ts";
import type { EventOf, RunEvent } from "../../src/core/run/events.ts";
import type { Engine } from "./engine.ts";
import { checkListed } from "./skill.ts";
import { checkReturned, refusal } from "./thoughts.ts";

/** What a model says, marked with its name. */
export const markOf = (model: string): string => `@${model} `;
const mark = /@(p\d) /g;
/** What a client of a tenant says. */
export const saidBy = (tenant: string): string => `go for ${tenant};`;
const said = /go for (\w+);/g;
/** Offered without having been found. */
const always = new Set(["find_tools", "read_result", "read_skill"]);
/** Of a tool, in what `find_tools` says. */
const named = /"name":\s*"(\w+)"/g;

/** What models are asked: nothing that is not stored, nothing erased, nothing of another tenant, and no call without its result. */
export class Requests {
  readonly #engine: Engine;
  readonly #summaries = new Set<string>();
  /** The run in which a model made a call with this number. */
  readonly #madeIn = new Map<unknown, string>();
  /** What a model says on a wire, by the answer's id there; undefined once it is certain that it was not heard to the end. */
  readonly answers = new Map<string, string | undefined>();
  /** Generations under way, by process and run. */
  readonly #open = new Map<string, Set<AbortSignal>>();

  constructor(engine: Engine) {
    this.#engine = engine;
    engine.onStored.push((event) => this.#stored(event));
  }

  #stored(event: RunEvent): void {
    const made = event.type === "tool_call.ready" ? event.arguments.n : undefined;
    if (made !== undefined && !this.#madeIn.has(made)) this.#madeIn.set(made, event.run);
    if (event.type === "generation.finished") this.#checkAnswer(event);
    if (event.type !== "context.compacted") return;
    this.#engine.coverage.count(event.summary === undefined ? "compacted" : "summarized");
    if (event.summary !== undefined) this.#summaries.add(event.summary);
    if (event.summary?.startsWith(refusal))
      this.#engine.world.violated(`${event.run}: a refusal is taken for a summary`);
  }

  /** What was said on a wire is stored whole, or not as an answer. */
  #checkAnswer({ run, seq, responseId = "" }: EventOf<"generation.finished">): void {
    const id = responseId.replace(/^[a-z]+[-_]/, "");
    if (!this.answers.has(id)) return;
    const { world, profile, events } = this.#engine;
    const sent = this.answers.get(id);
    if (sent === undefined) return world.violated(`${run}: an answer that was cut counts as complete`);
    if (profile.guarded !== "none") return;
    let said = "";
    for (const event of events.get(run) ?? []) {
      if (event.seq === seq) break;
      if (event.type === "round.started") said = "";
      if (event.type === "text.delta" || event.type === "refusal.delta") said += event.text;
    }
    if (said !== sent) world.violated(`${run}: the model said "${sent}", and "${said}" is stored`);
  }

  /** What a model was told that it has found is what it may call, and nothing else. */
  #checkOffered(
    run: string,
    { tools, number }: { tools: GenerationRequest["tools"]; number: number },
    say: (what: string) => void,
  ): void {
    const found = new Set<string>();
    let known = new Set<string>();
    for (const event of this.#engine.events.get(run) ?? []) {
      // Also by a round that is tried again, and may not call it yet.
      if (event.type === "tools.found") for (const name of event.names) found.add(name);
      if (event.type === "tool.finished" && event.name === "find_tools" && event.ok)
        for (const [, name = ""] of (event.output ?? "").matchAll(named)) found.add(name);
      if (event.type === "round.finished") known = new Set(found);
    }
    const offered = new Set(tools.map(({ name }) => name));
    if (known.size > 0) this.#engine.coverage.count("tools found");
    // The next configuration does not have this one.
    if (number > 0) known.delete("look");
    for (const name of known) if (!offered.has(name)) say(`${name} was found and is not offered`);
    for (const name of offered) if (!found.has(name) && !always.has(name)) say(`${name} is offered and was not found`);
  }

  /** Returns what is called when its stream is over. */
  begin(
    { process, model, number }: { process: string; model: string; number: number },
    { messages, tools }: GenerationRequest,
    { run, signal, tenant = "default" }: GenerationContext,
  ) {
    const { world, profile, coverage } = this.#engine;
    const say = (what: string) => world.violated(`${run}: ${what}`);
    checkPairs(messages, say);
    // An owner that was replaced may still ask a model, with what it knew; nothing of it is stored. A summary is asked for without tools.
    const isCurrent = this.#engine.ownerOf(run)?.worker === process && tools.length > 0;
    if (profile.skilled && isCurrent) checkListed(messages, this.#engine.events.get(run) ?? [], say);
    if (profile.reasons) checkReturned(messages, { model, guarded: profile.guarded !== "none" }, say);
    if (profile.defers && isCurrent) this.#checkOffered(run, { tools, number }, say);
    this.#checkErased(messages, { claimed: run, worker: process }, say);
    for (const message of messages) {
      const summary = summaryIn(message);
      if (summary !== undefined && !this.#summaries.has(summary))
        say("a model is asked with a summary that is not stored");
      for (const part of message.parts)
        if (part.type === "text" && message.role === "user")
          for (const [, whose] of part.text.matchAll(said))
            if (whose !== tenant) say(`a model of ${tenant} is asked with what ${whose} has said`);
    }
    const key = `${process} ${run}`;
    const open = this.#open.get(key) ?? new Set();
    this.#open.set(key, open.add(signal));
    const left = [...open].filter(({ aborted }) => !aborted).length;
    const most = profile.hedgeAfter > 0 ? 2 : 1;
    if (left === 2) coverage.count("hedged");
    if (left > most) say(`${left} models are asked at once, and ${most} may be`);
    return () => open.delete(signal);
  }

  /** A fork has its own copy of the conversation. */
  #checkErased(messages: readonly Message[], by: { claimed: string; worker: string }, say: (what: string) => void) {
    if (this.#engine.restored.has(by.claimed)) return;
    for (const part of messages.flatMap(({ parts }) => parts)) {
      const from = part.type === "tool_call" ? this.#madeIn.get(part.arguments.n) : undefined;
      if (from !== undefined && this.#engine.wasErasedBefore(from, by))
        say(`a model is asked with a call of ${from}, which is erased`);
    }
  }
}

/** Each result stands after its call, and no call is without one. */
function checkPairs(messages: readonly Message[], say: (what: string) => void): void {
  const open = new Set<string>();
  for (const { parts } of messages)
    for (const part of parts) {
      if (part.type === "tool_call") open.add(part.call);
      if (part.type === "tool_result" && !open.delete(part.call))
        say(`a model is asked with a result of ${part.call} without its call`);
    }
  for (const call of open) say(`a model is asked with the call ${call} without its result`);
}

/** What was said in a round was said by the model that the round names, also when two were asked. */
export function checkSpeakers(events: readonly RunEvent[], say: (what: string) => void): void {
  let model = "";
  let text = "";
  const check = () => {
    for (const [, name] of text.matchAll(mark)) if (name !== model) say(`${name} has spoken in a round of ${model}`);
    text = "";
  };
  for (const event of events) {
    if (event.type === "text.delta" || event.type === "refusal.delta" || event.type === "reasoning.delta")
      text += event.text;
    if (event.type !== "round.started") continue;
    check();
    model = event.model.split("/")[0] ?? "";
  }
  check();
}
