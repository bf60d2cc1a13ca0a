import { VenturiError, wrap } from "../../core/errors/errors.ts";
import { writtenInstructions } from "../run/inputs.ts";
import type { RunContext } from "../run/run-context.ts";
import { listedOf } from "../run/skills.ts";

const op = "agent.transfer";

/**
 * Hands the run to another agent from the next round on. Prepares everything that agent needs before writing the event, so that a run is
 * never handed to an agent that cannot continue it. A call repeated after a crash finds its own event.
 */
export async function transfer(
  run: RunContext,
  { call, round }: { readonly call: string; readonly round: number },
  name: string,
): Promise<void> {
  const { handedTo, started } = run.state;
  if (handedTo?.call === call) return;
  if (handedTo !== undefined) {
    throw new VenturiError(op, "tool_failed", `the run is being handed to ${handedTo.agent} already`);
  }
  try {
    const agent = run.agentNamed(name);
    const context = await run.live.of(agent);
    const instructions = await writtenInstructions({ agent, context }, started?.input ?? run.deps.request.input);
    if (run.state.handedTo !== undefined) throw new VenturiError(op, "tool_failed", "another call was first");
    await run.step({
      type: "agent.changed",
      round,
      call,
      agent: name,
      ...(instructions === undefined ? {} : { instructions }),
      ...listedOf(agent.skills),
    });
  } catch (thrown) {
    if (run.signal.aborted) throw thrown;
    const { message } = wrap(op, thrown);
    throw new VenturiError(op, "tool_failed", `the run can't be handed to ${name}: ${message}`, { cause: thrown });
  }
}
