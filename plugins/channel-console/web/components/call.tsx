import type { JSX } from "preact";
import { argumentsOf, type Call, editedOf, outputOf } from "../fold/view.ts";
import { printable } from "../text/printable.ts";
import { duration, short } from "../text/words.ts";
import { AnswerForm } from "./answer.tsx";
import { ApprovalForm } from "./approval.tsx";
import { Content } from "./content.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Arguments } from "./json.tsx";
import { memo } from "./memo.ts";

export const callWords: Readonly<Record<Call["state"], string>> = {
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

const icons: Readonly<Partial<Record<Call["state"], IconName>>> = {
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
  const { ms, savedMs, images = [] } = call.finished ?? {};
  const [given, output, asked] = [argumentsOf(call), outputOf(call), call.question?.asked];
  const { origin } = asked ?? {};
  // A called run asked it at a time of its own.
  const since = origin === undefined ? asked?.at : undefined;
  const target = { run: origin?.run ?? run, call: origin?.call ?? call.id, since };
  return (
    <div class={`call ${tone}${selected ? " selected" : ""}`}>
      <button type="button" class="call-head" aria-pressed={selected} onClick={() => select(`call ${call.id}`)}>
        <Icon name={icons[call.state] ?? "tool"} size={14} />
        <b class="mono">{printable(call.name)}</b>
        {given === undefined ? (
          <span class="mono muted">{printable(short(call.argumentsText, 120))}</span>
        ) : (
          <Arguments value={given} />
        )}
        <span class="spacer" />
        {savedMs === undefined ? null : (
          <span class="chip good" title="Started while the model still streamed">
            saved {duration(savedMs)}
          </span>
        )}
        {editedOf(call) === undefined ? null : <span class="chip">edited</span>}
        <span class="state">{ms === undefined || call.state !== "done" ? callWords[call.state] : duration(ms)}</span>
      </button>
      {call.state === "running" && call.progress !== "" ? (
        <div class="call-output mono">{printable(call.progress.slice(-400))}</div>
      ) : null}
      {call.state === "done" && output !== undefined && output !== "" ? (
        <div class="call-output mono">{printable(short(output, 280))}</div>
      ) : null}
      {call.error === undefined ? null : <div class="call-output error">{printable(short(call.error.err, 400))}</div>}
      {images.length === 0 ? null : (
        <div class="call-output">
          {images.map((image, index) => (
            <Content key={index} content={image} run={run} />
          ))}
        </div>
      )}
      {call.state !== "asking" || asked === undefined || frozen ? null : asked.type === "question.asked" ? (
        <AnswerForm question={{ ...asked, ...target, until: asked.until }} />
      ) : (
        <ApprovalForm
          question={{ ...target, name: call.name, arguments: given ?? {}, reason: asked.reason, until: asked.until }}
        />
      )}
    </div>
  );
});
