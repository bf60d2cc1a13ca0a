import type { JSX } from "preact";
import type { Call, CallState } from "../fold/view.ts";
import { printable } from "../text/printable.ts";
import { duration, short } from "../text/words.ts";
import { AnswerForm } from "./answer.tsx";
import { ApprovalForm } from "./approval.tsx";
import { Content } from "./content.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Arguments } from "./json.tsx";
import { memo } from "./memo.ts";

export const callWords: Readonly<Record<CallState, string>> = {
  writing: "writing arguments",
  ready: "ready",
  asking: "needs approval",
  running: "running",
  done: "done",
  failed: "failed",
  rejected: "rejected",
  refused: "denied",
  client: "left to the client",
};

const icons: Readonly<Partial<Record<CallState, IconName>>> = {
  asking: "hand",
  done: "check",
  failed: "warning",
  rejected: "warning",
  refused: "cross",
};

interface CallCardProps {
  readonly call: Call;
  readonly run: string;
  readonly frozen: boolean;
  /** Changes with the call. */
  readonly version: number;
  readonly retracted: string | undefined;
  readonly selected: boolean;
  readonly select: (id: string) => void;
}

/** One tool call on a line: name, arguments, outcome, duration. */
export const CallCard = memo(({ call, run, frozen, retracted, selected, select }: CallCardProps): JSX.Element => {
  const failed = call.state === "failed" || call.state === "rejected";
  const tone = retracted !== undefined ? "retracted" : failed ? "failed" : call.state;
  return (
    <div class={`call ${tone}${selected ? " selected" : ""}`}>
      <button type="button" class="call-head" aria-pressed={selected} onClick={() => select(`call ${call.id}`)}>
        <Icon name={icons[call.state] ?? "tool"} size={14} />
        <b class="mono">{printable(call.name)}</b>
        {call.arguments === undefined ? (
          <span class="mono muted">{printable(short(call.argumentsText, 120))}</span>
        ) : (
          <Arguments value={call.arguments} />
        )}
        <span class="spacer" />
        {call.savedMs === undefined ? null : (
          <span class="chip good" title="Started while the model still streamed">
            saved {duration(call.savedMs)}
          </span>
        )}
        {call.approval?.edited === undefined ? null : <span class="chip">edited</span>}
        <span class="state">
          {call.ms === undefined || call.state !== "done" ? callWords[call.state] : duration(call.ms)}
        </span>
      </button>
      {call.state === "running" && call.progress !== "" ? (
        <div class="call-output mono">{printable(call.progress.slice(-400))}</div>
      ) : null}
      {call.state === "done" && call.output !== undefined && call.output !== "" ? (
        <div class="call-output mono">{printable(short(call.output, 280))}</div>
      ) : null}
      {call.error === undefined ? null : <div class="call-output error">{printable(short(call.error.err, 400))}</div>}
      {call.images.length === 0 ? null : (
        <div class="call-output">
          {call.images.map((image, index) => (
            <Content key={index} content={image} run={run} />
          ))}
        </div>
      )}
      {call.state === "asking" && call.approval?.question !== undefined && !frozen ? (
        <AnswerForm
          question={{
            ...call.approval.question,
            run: call.approval.origin?.run ?? run,
            call: call.approval.origin?.call ?? call.id,
            until: call.approval.until,
          }}
        />
      ) : null}
      {call.state === "asking" && call.approval !== undefined && call.approval.question === undefined && !frozen ? (
        <ApprovalForm
          question={{
            run: call.approval.origin?.run ?? run,
            call: call.approval.origin?.call ?? call.id,
            name: call.name,
            arguments: call.arguments ?? {},
            reason: call.approval.reason,
            until: call.approval.until,
          }}
        />
      ) : null}
    </div>
  );
});
