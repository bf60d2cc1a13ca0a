import type { JSX } from "preact";
import { byWhom } from "venturi/internal/fold";
import type { RunView } from "../fold/view.ts";
import { printable } from "../text/printable.ts";
import { Icon } from "./icon.tsx";
import { Json } from "./json.tsx";

export const Structured = ({ value }: { value: unknown }): JSX.Element => (
  <div class="structured">
    <span class="tag">Structured output</span>
    <Json value={value} />
  </div>
);

/** How the run ended, or that its model has not started answering. */
export function Ending({ view, isShown }: { view: RunView; isShown: boolean }): JSX.Element | null {
  if (view.status === "cancelled") {
    return (
      <div class="ending cancelled">
        <Icon name="stop" size={14} />
        <div>
          <b>Stopped{printable(byWhom(view.error?.details?.by))}</b>
          <div class="pre-wrap muted">{printable(view.error?.err ?? "")}</div>
        </div>
      </div>
    );
  }
  if (view.status === "failed" && view.error !== undefined) {
    return (
      <div class="ending failed">
        <Icon name="cross" size={14} />
        <div>
          <b>{view.error.code}</b> <span class="muted">in {printable(view.error.op)}</span>
          <div class="pre-wrap">{printable(view.error.err)}</div>
        </div>
      </div>
    );
  }
  if (view.object !== undefined) return isShown ? null : <Structured value={view.object} />;
  if (view.endedAt === undefined && view.head > 0 && view.times.now.part === "providerWait") {
    return (
      <div class="waiting-line" role="presentation">
        <span class="dots" />
        Waiting for the model
      </div>
    );
  }
  return null;
}
