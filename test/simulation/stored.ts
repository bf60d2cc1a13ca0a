import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import type { Client } from "./client.ts";
import type { Engine } from "./engine.ts";
import { forbidden } from "./guard.ts";
import type { Profile } from "./profile.ts";
import type { Recollection } from "./recollection.ts";
import { checkSpeakers } from "./requests.ts";
import { checkRead } from "./skill.ts";
import { checkThoughts } from "./thoughts.ts";

/** Of what is stored when all is over. */
export function checkStored(
  engine: Engine,
  clients: readonly Client[],
  { recollection, isScheduled }: { recollection: Recollection; isScheduled: (run: string) => boolean },
): void {
  const { world, events, restored: forked } = engine;
  for (const { run, seq } of engine.changed()) world.violated(`${run}: event ${seq} was changed after it was stored`);
  const known = new Set(clients.flatMap(({ runs }) => runs));
  for (const [run, stored] of events) {
    const say = (what: string) => world.violated(`${run}: ${what}`);
    // A fork has no key: when its answer is lost, the client forks again and nobody answers the first one's questions.
    if (!known.has(run) && !forked.has(run) && !isScheduled(run)) say("no client knows of it");
    if (!known.has(run)) continue;
    const ends = stored.filter(isTerminal);
    if (ends.length !== 1) say(`has ${ends.length} terminal events`);
    const last = stored.at(-1);
    if (last === undefined || !isTerminal(last)) say("does not end with its terminal event");
    if (last?.type === "run.finished" && !last.output.endsWith(lastText(stored)))
      say("its deltas do not add up to its output");
    if (last?.type === "run.failed" && last.error.code === "internal") say(`failed of itself: ${last.error.err}`);
    const may = mayReject(engine.profile);
    // The model of a history sends nothing else.
    if (stored.some((event) => event.type === "tool_call.rejected" && !may.has(event.error.code)))
      say("rejected arguments that are right");
    quietWhilePaused(stored, say);
    if (engine.profile.guarded !== "none") guardedTexts(stored, say);
    onceEach(stored, say);
    checkSpeakers(stored, say);
    // A fork may be answered with what the original has read.
    if (engine.profile.skilled && !forked.has(run)) checkRead(stored, engine.coverage, say);
    checkThoughts(stored, engine.profile.guarded !== "none", say);
    recollection.check(stored, say);
  }
}

const mayReject = ({ guarded, reloads }: Profile): ReadonlySet<string> =>
  new Set([...(guarded === "none" ? [] : ["content_blocked"]), ...(reloads ? ["tool_not_found"] : [])]);

/** Between its pause and its resumption a run does nothing but end. */
function quietWhilePaused(events: readonly RunEvent[], say: (what: string) => void): void {
  let paused = false;
  for (const event of events) {
    if (event.type === "run.paused") paused = true;
    if (event.type === "run.continued") paused = false;
    if (paused && (event.type === "round.started" || event.type === "tool.started"))
      say(`${event.type} while it is paused`);
  }
}

/** What a guard takes out is in no text, however its pieces were cut. */
function guardedTexts(events: readonly RunEvent[], say: (what: string) => void): void {
  for (const kind of ["text.delta", "refusal.delta", "reasoning.delta"] as const) {
    const text = events.map((event) => (event.type === kind ? event.text : event.type.startsWith("round.") ? "|" : ""));
    if (text.join("").includes(forbidden)) say("says what a guard takes out");
  }
}

/** The text of the last round that was not retracted. */
function lastText(events: readonly RunEvent[]): string {
  let text = "";
  for (const event of events) {
    if (event.type === "round.started" || event.type === "round.retracted") text = "";
    else if (event.type === "text.delta" || event.type === "refusal.delta") text += event.text;
  }
  return text;
}

/** One seal a call, one end, and a start for each owner. */
function onceEach(events: readonly RunEvent[], say: (what: string) => void): void {
  const counts = new Map<string, number>();
  for (const event of events) {
    if (event.type === "tool_call.ready" || event.type === "tool_call.rejected" || event.type === "tool.finished") {
      const key = `${event.call} ${event.type === "tool.finished" ? "finished" : "sealed"}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    if (event.type === "question.asked" || event.type === "question.answered") {
      const key = `${event.call} ${event.type}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    if (event.type === "message.added") counts.set("steering", (counts.get("steering") ?? 0) + 1);
    if (event.type !== "tool.started") continue;
    const key = `${event.call} started as attempt ${event.attempt}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const [what, count] of counts) if (count > 1) say(`${what} ${count} times`);
}
