import type { GuardVerdict } from "../core/run/guard-verdict.ts";
import type { Crash } from "../core/run/signals.ts";
import { blocked } from "./run/guard-filter.ts";
import { writtenInstructions } from "./run/inputs.ts";
import type { RunContext } from "./run/run-context.ts";
import { listedOf } from "./run/skills.ts";

/** Writes the run's first event, or `run.resumed` when this worker takes it over. `crash`: how the previous owner's process ended. */
export async function begin(run: RunContext, crash: Crash | undefined): Promise<void> {
  const { request } = run.deps;
  if (run.state.started) return await resume(run, crash);
  let asked = request;
  let denied: unknown;
  let instructions: string | undefined;
  try {
    await run.activate();
    if (!run.hooks.empty) asked = await run.hooks.beforeRun(request);
    instructions = await writtenInstructions(run, asked.input);
  } catch (thrown) {
    denied = thrown;
  }
  run.emit({
    type: "run.started",
    agent: run.agent.name,
    input: asked.input,
    config: run.agent.config,
    ...(instructions === undefined ? {} : { instructions }),
    ...listedOf(run.agent.skills),
    ...(asked.session === undefined ? {} : { session: asked.session }),
    ...(asked.parent === undefined ? {} : { parent: asked.parent }),
    ...(request.fork === undefined ? {} : { fork: { run: request.fork.run, after: request.fork.after } }),
    ...(request.caller === undefined ? {} : { by: request.caller.id }),
    ...(asked.metadata === undefined ? {} : { metadata: asked.metadata }),
  });
  noteRevision(run);
  tellGuarded(run, request.guarded);
  if (denied !== undefined) throw denied;
}

/** Writes an event for each guard decision that was made before the input was stored. */
function tellGuarded(run: RunContext, verdicts: readonly GuardVerdict[] = []): void {
  for (const verdict of verdicts) run.emit({ type: "guard.decided", ...verdict });
  const refused = verdicts.find(({ action }) => action === "block");
  if (refused === undefined) return;
  const { guard, direction, rule, count = 1 } = refused;
  throw blocked(guard, direction, `${count} ${rule}`);
}

async function resume(run: RunContext, crash: Crash | undefined): Promise<void> {
  const { history, clock, log, runLog } = run.deps;
  const { epoch, worker } = runLog.ownership;
  const idleMs = Math.max(0, clock.now() - (history.at(-1)?.at ?? clock.now()));
  log.info("run resumed", { run: run.run, agent: run.agent.name, epoch, worker, events: history.length, idleMs });
  const { at, cause = "was ended by another run" } = crash ?? {};
  if (at !== undefined) {
    const ms = Math.max(0, clock.now() - at);
    run.waits.past("down", cause, { since: clock.monotonic() - ms, ms });
  }
  run.emit({ type: "run.resumed", epoch });
  noteRevision(run);
  await run.activate();
}

function noteRevision(run: RunContext): void {
  const { agent, request } = run.deps;
  const before = run.state.revision ?? request.revision;
  if (before === undefined || before === agent.revision) return;
  run.emit({ type: "agent.revised", agent: agent.name, revision: agent.revision });
}
