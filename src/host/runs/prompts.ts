import { requestFor, toolsFor } from "../../agent/model/request.ts";
import { Breakers } from "../../agent/run/breaker.ts";
import { ContentStore } from "../../agent/run/content.ts";
import { type AgentDefinition, defaultCompaction, type ModelTarget } from "../../agent/run/definition.ts";
import { RunContext } from "../../agent/run/run-context.ts";
import { inputMessages } from "../../agent/state/input-messages.ts";
import { RunState } from "../../agent/state/run-state.ts";
import { continuedBy } from "../../agent/state/session-messages.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { RunLog } from "../../core/journal/run-log.ts";
import type { Message } from "../../core/model/messages.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { EventOf, RunEvent } from "../../core/run/events.ts";
import type { Prompt } from "../../core/run/prompt.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { readHistory } from "../../journal/history.ts";
import type { AgentFrames } from "./agent-frames.ts";
import { conversationBefore } from "./fork.ts";

interface Deps {
  readonly journal: Journal;
  readonly frames: AgentFrames;
  readonly clock: Clock;
  readonly log: Log;
  agentOf(name: string): AgentDefinition | undefined;
}

/**
 * Reconstructs the request of the round's last attempt: folds the events before it as the loop does and uses the loop's own request
 * builder.
 */
export async function promptOf(row: RunRow, round: number, deps: Deps): Promise<Prompt> {
  const op = "run.prompt";
  const history = await readHistory(deps.journal, row);
  const at = history.findLastIndex((event) => event.type === "round.started" && event.round === round);
  const begun = history[at];
  if (begun?.type !== "round.started")
    throw new VenturiError(op, "not_found", `${row.run} has no round ${round}`, { details: { run: row.run } });
  const before = history.slice(0, at);
  const state = RunState.of(before);
  const name = state.active?.agent ?? row.agent;
  const now = deps.agentOf(name);
  if (now === undefined)
    throw new VenturiError(op, "not_found", `the agent "${name}" is not in the configuration any more`);
  const was = await deps.frames.of(now, name === row.agent ? (state.revision ?? row.request.revision) : now.revision);
  const notes = notesOf(now, was, begun);
  const instructions = row.request.fork?.instructions;
  const agent = { ...(was ?? now), ...(instructions === undefined ? {} : { instructions }) };
  const request = await rebuilt(row, { agent, before, begun }, deps);
  const { messages, tools, options, toolChoice, output } = request;
  return {
    round,
    attempt: begun.attempt,
    seq: begun.seq,
    model: begun.model,
    exact: was !== undefined && now.hooks.length === 0,
    notes,
    messages: [...messages],
    tools: tools.map(({ name: tool, description, parameters }) => ({
      name: tool,
      description,
      parameters: { ...parameters },
    })),
    options: { ...options },
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(output === undefined ? {} : { output }),
  };
}

function notesOf(now: AgentDefinition, was: AgentDefinition | undefined, begun: EventOf<"round.started">): string[] {
  return [
    ...(was === undefined ? ["instructions, tools and options are those of the configuration now"] : []),
    ...(now.hooks.length === 0 ? [] : ["a hook of the agent may have changed it"]),
    ...(begun.warnings ?? []).map((warning) => `not sent: ${warning}`),
  ];
}

interface Round {
  readonly agent: AgentDefinition;
  readonly before: readonly RunEvent[];
  readonly begun: EventOf<"round.started">;
}

async function rebuilt(row: RunRow, { agent, before, begun }: Round, { journal, clock, log }: Deps) {
  const { messages } = await conversationBefore(journal, row);
  const { recall: _, ...frame } = agent;
  const run = new RunContext({
    // Folded and recalled content is in the events: nothing is summarized or searched again, and no hook is called twice.
    agent: { ...frame, hooks: [], compaction: { ...(agent.compaction ?? defaultCompaction), by: "drop" } },
    request: row.request,
    tenant: row.tenant,
    runLog: unwritten(row.run, begun.seq - 1),
    history: before,
    session: continuedBy(messages, inputMessages(row.request.input)),
    clock,
    log,
    breakers: new Breakers(clock),
    content: new Unloaded(undefined),
  });
  return await requestFor(run, targetOf(agent, begun), toolsFor(run));
}

function targetOf(agent: AgentDefinition, { model, provider = "" }: EventOf<"round.started">): ModelTarget {
  const chains = [agent.model, ...agent.overrides.models.values()];
  const known = chains.flatMap(({ targets }) => targets).find(({ name }) => name === model);
  const [first] = agent.model.targets;
  if (known !== undefined || first === undefined) return (known ?? first) as ModelTarget; // A chain has at least one target.
  return { ...first, name: model, provider };
}

/** Images and files stay references; displaying a prompt does not need their bytes. */
class Unloaded extends ContentStore {
  override async load(messages: readonly Message[]): Promise<readonly Message[]> {
    return messages;
  }
}

/** A log that discards everything. */
function unwritten(run: string, head: number): RunLog {
  let seq = head;
  const write: RunLog["write"] = (body) => {
    seq += 1;
    return { ...body, run, seq, at: 0 } as RunEvent; // As a run's log would complete it.
  };
  return {
    ownership: { run, session: undefined, epoch: 0, worker: "", head },
    get head() {
      return seq;
    },
    signal: new AbortController().signal,
    pressure: undefined,
    write,
    flush: async () => {},
    step: async (body) => write(body),
    park: async () => {},
  };
}
