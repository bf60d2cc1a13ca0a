import type { JSX } from "preact";
import type { Approval } from "venturi/client";
import { slowClock } from "../state/clock.ts";
import { me } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { ago, duration } from "../text/words.ts";
import { Icon } from "./icon.tsx";
import { Arguments } from "./json.tsx";

interface Marking {
  /** Undefined: it cannot be answered together with others. */
  readonly marked: boolean | undefined;
  readonly mark: () => void;
}

/** One question of the inbox: who asks, for whom, and the highlighted values. */
export function QuestionLine({ question, marked, mark }: { question: Approval } & Marking): JSX.Element {
  const left = question.until === undefined ? undefined : question.until - slowClock.value;
  return (
    <div class="question-line">
      {marked === undefined ? (
        <Icon name="hand" size={14} />
      ) : (
        <input
          type="checkbox"
          tabIndex={-1}
          checked={marked}
          aria-label={`Choose ${question.name} of ${question.run}`}
          onClick={(event) => event.stopPropagation()}
          onChange={mark}
        />
      )}
      <span class="question-top">
        <b class="mono">{printable(question.name)}</b>
        <TenantTag tenant={question.tenant} />
        <span class="spacer" />
        <span class="faint">{ago(question.since, slowClock.value)}</span>
      </span>
      <span class="question-low">
        <Covered question={question} most={60} />
        <span class="spacer" />
        {left !== undefined && left < 600_000 ? (
          <span class="tag warning">{duration(Math.max(0, left))} left</span>
        ) : (
          <span class="muted">{printable(question.agent)}</span>
        )}
      </span>
    </div>
  );
}

export const TenantTag = ({ tenant }: { tenant: string | undefined }): JSX.Element | null =>
  tenant === undefined || (tenant === me.value.tenant && me.value.tenants !== "all") || tenant === "default" ? null : (
    <span class="tag">{printable(tenant)}</span>
  );

/** What a question is about, on one line. */
export function Covered({ question, most }: { question: Approval; most: number }): JSX.Element {
  const { show, message } = question;
  if (message !== undefined) return <span dir="auto">{printable(message.slice(0, most))}</span>;
  if (show === undefined) return <Arguments value={question.arguments} most={most} />;
  return (
    <span class="shown-first">
      {show.map(({ name, value }) => (
        <span key={name}>
          <span class="faint">{printable(name)}</span> <b dir="auto">{printable(value)}</b>
        </span>
      ))}
    </span>
  );
}
