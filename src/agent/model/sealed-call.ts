import { textUnlessSame } from "../../core/model/messages.ts";
import type { CallResult, OpenCall } from "../../provider/accumulate.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallSink } from "../state/call-sink.ts";
import type { ToolTable } from "../tools/tool-table.ts";

interface SealedCall {
  readonly call: OpenCall;
  readonly id: string;
  readonly name: string;
  readonly round: number;
  /** The arguments as shown to clients, and their parsed value. */
  readonly written: string;
  readonly result: CallResult;
}

/** Writes that the call is complete and passes it to `sink`, or writes why it is rejected. */
export function writeSealed(
  run: RunContext,
  { call, id, name, round, written, result }: SealedCall,
  { tools, sink }: { readonly tools: ToolTable; readonly sink: CallSink },
): void {
  run.deps.watch?.sealed(id, call);
  const checked = result.ok ? tools.check(name, result.arguments) : result;
  const shared = { round, call: id, name };
  const signature = call.signature === undefined ? {} : { signature: call.signature };
  if (!checked.ok) {
    const error = checked.error.toJSON();
    run.emit({ type: "tool_call.rejected", ...shared, arguments: written, error, ...signature });
    const fields = { run: run.run, call: id, tool: name, code: error.code, reason: error.err };
    run.deps.log.warn("tool call rejected", fields);
    return;
  }
  const parsed = result.ok ? result.arguments : {};
  run.emit({ type: "tool_call.ready", ...shared, arguments: parsed, ...textUnlessSame(written, parsed), ...signature });
  const state = run.state.round?.calls.get(id);
  if (state) sink.sealed(state);
}
