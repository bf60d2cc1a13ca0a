import type { RunEvent } from "../../src/core/run/events.ts";
import { isTerminal } from "../../src/core/run/events.ts";
import type { Cause } from "../../src/serve/why/causes.ts";
import { causeOf } from "../../src/serve/why/judge.ts";
import { Story } from "../../src/serve/why/story.ts";
import { disagreements } from "../agreement.ts";
import type { Engine } from "./engine.ts";
import type { Profile } from "./profile.ts";

/** What `why` may say, and what has to go wrong in a history for it. Others need nothing but slow models, tools and people. */
const needs: Partial<Record<Cause, (profile: Profile) => boolean>> = {
  ...each(["provider_unavailable", "provider_error", "stream_cut", "provider_silent", "rate_limited"], modelFails),
  ...each(["backoff", "failover", "breaker_open"], modelFails),
  // The time of a pause is told as one without a process.
  ...each(["taken_over", "worker_crashed"], (profile) => isDisturbed(profile) || profile.pauses > 0),
  ...each(["journal_failed", "slow_journal"], isDisturbed),
  // Hooks wait for nothing but the journal here, and that is told as such.
  ...each(["slow_hook"], () => false),
  ...each(["runtime", "internal", "blocked_loop", "process_stopped", "garbage_collection"], () => false),
  ...each(["tool_exited", "plugin_failed", "agent_missing", "stranded", "shutdown"], () => false),
  ...each(["request_refused"], ({ contextTokens }) => contextTokens > 0),
  ...each(["refused"], ({ refuses }) => refuses > 0),
  ...each(["denied"], ({ denies, ignores, guarded }) => denies > 0 || ignores > 0 || guarded !== "none"),
  // A process whose clock is far ahead takes a question for unanswered earlier.
  ...each(
    ["unanswered"],
    ({ ignores, forks, answer, skew }) => ignores > 0 || forks > 0 || answer > 10_000 || skew > 10_000,
  ),
  ...each(["bad_arguments"], ({ guarded, reloads }) => guarded !== "none" || reloads),
};

/** `why` of each run that has ended: its parts are the run's time, and its cause is something that happened. */
export function checkTold({ world, events, profile: drawn, cancelled, coverage, sqlite }: Engine): void {
  // A loss of power ends every process of the machine.
  const profile = sqlite === undefined ? drawn : { ...drawn, crashes: drawn.crashes + 1 };
  for (const [run, stored] of events) {
    const last = stored.at(-1);
    if (last === undefined || !isTerminal(last)) continue;
    const say = (what: string) => world.violated(`${run}: ${what}`);
    const story = new Story();
    for (const what of disagreements(stored, story)) say(`its readers disagree: ${what}`);
    checkTimes(story, stored, say);
    const cause = causeOf(story);
    coverage.count(`why: ${cause}`);
    if (needs[cause]?.(profile) === false) say(`why says ${cause}, and nothing of the kind happened`);
    if (cause === "cancelled" && !cancelled.has(run) && profile.schedule !== "cancel")
      say("why says cancelled, and nobody did");
  }
}

function checkTimes({ shares, times }: Story, events: readonly RunEvent[], say: (what: string) => void): void {
  let at = times.from;
  for (const { from, to, part } of times.segments) {
    if (from !== at || to < from) say(`its time from ${from} to ${to} (${part}) does not follow ${at}`);
    at = to;
  }
  for (const [index, event] of events.entries())
    if (event.at < (events[index - 1]?.at ?? 0))
      say(`${event.type} (${event.seq}) is earlier than what comes before it`);
  const sum = shares.all.reduce((total, { ms }) => total + ms, 0);
  const ms = (events.at(-1)?.at ?? 0) - times.from;
  if (Math.abs(sum - ms) > 1) say(`its parts add up to ${sum} ms of ${ms} ms`);
}

function modelFails({ providerFails }: Profile): boolean {
  return providerFails > 0;
}

/** Of the store or a process. Delays of up to 30 ms add up to a noticeable wait over the steps of a run. */
function isDisturbed({ slow, refused, lost, late, twice, fullDisk, crashes, drains, skew, delay }: Profile): boolean {
  return slow + refused + lost + late + twice + fullDisk + crashes + drains > 0 || skew !== 0 || delay >= 30;
}

function each<Name extends Cause>(names: readonly Name[], fits: (profile: Profile) => boolean) {
  return Object.fromEntries(names.map((name) => [name, fits])) as Record<Name, (profile: Profile) => boolean>;
}
