import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { ToolHookCall } from "../../core/ports/hooks.ts";
import type { CallResult, OpenCall } from "../../provider/accumulate.ts";
import type { RunContext } from "../run/run-context.ts";
import { isRecord } from "../schema/scalars.ts";

interface Sealing {
  readonly call: OpenCall;
  readonly id: string;
  readonly name: string;
  readonly round: number;
}

/** A complete call as the hooks leave it: this is what is shown, stored and checked. */
export function screened(run: RunContext, { call, id, name, round }: Sealing): { text: string; result: CallResult } {
  const result = call.result();
  // Text that is not JSON is screened as plain text; the call will be rejected anyway.
  const given = result.ok ? result.arguments : { text: call.text };
  const asked: ToolHookCall = { call: id, name, arguments: given };
  try {
    const left = run.hooks.sealed(asked, round);
    if (left.arguments === given) return { text: call.text, result };
    const changed = { ...left.arguments };
    if (!result.ok) return { text: String(changed.text), result };
    return { text: JSON.stringify(changed), result: { ok: true, arguments: changed } };
  } catch (thrown) {
    const error = wrap("tool.call", thrown, "plugin_failed");
    const { arguments: shown, ...details } = error.details ?? {};
    const refused = new VenturiError(error.op, error.code, error.message, { cause: error, details });
    const text = isRecord(shown) ? (result.ok ? JSON.stringify(shown) : String(shown.text)) : "{}";
    return { text, result: { ok: false, error: refused, raw: text } };
  }
}
