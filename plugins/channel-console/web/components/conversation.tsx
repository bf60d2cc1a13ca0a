import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { byWhom } from "venturi/internal/fold";
import type { Item, Notice, RunView, Said } from "../fold/view.ts";
import { Lazy } from "../pages/lazy.tsx";
import type { Part } from "../state/api-types.ts";
import type { LiveRun } from "../state/live.ts";
import { printable } from "../text/printable.ts";
import { duration } from "../text/words.ts";
import { CallCard } from "./call.tsx";
import { Content } from "./content.tsx";
import { Ending, Structured } from "./ending.tsx";
import { Icon } from "./icon.tsx";
import { Json } from "./json.tsx";
import { Markdown } from "./markdown.tsx";
import { memo } from "./memo.ts";
import { Rating } from "./rating.tsx";

export interface ConversationProps {
  readonly live: LiveRun;
  readonly selected: string | undefined;
  readonly select: (id: string) => void;
  /** Without controls for answering. */
  readonly quiet?: boolean;
  /** Opens the dialog that edits the conversation up to this event and runs it again. */
  readonly edit?: ((after: number) => void) | undefined;
}

const mostShown = 150;

/** The conversation in chronological order. */
export function Conversation({ live, selected, select, quiet = false, edit }: ConversationProps): JSX.Element {
  live.tick.value;
  const { view } = live;
  const shown = useSignal(mostShown);
  const hidden = Math.max(0, view.items.length - shown.value);
  const more = () => {
    shown.value += mostShown;
  };
  const answer = structuredAnswer(view);
  return (
    <div class="conversation" aria-busy={view.endedAt === undefined}>
      {hidden === 0 ? null : (
        <button type="button" class="quiet earlier" onClick={more}>
          Show {Math.min(hidden, mostShown)} of {hidden} earlier
        </button>
      )}
      {view.items
        .slice(hidden)
        .map((item) =>
          isLastWord(item, view) ? null : (
            <ItemView
              object={item === answer ? view.object : undefined}
              key={keyOf(item)}
              item={item}
              live={live}
              selected={selected}
              select={select}
              quiet={quiet}
              edit={edit}
            />
          ),
        )}
      <Ending view={view} isShown={answer !== undefined} />
    </div>
  );
}

/** Whether it is the failure that ended the run, which the ending already shows. */
const isLastWord = (item: Item, { items, error, status }: RunView): boolean =>
  status === "failed" &&
  item.kind === "notice" &&
  item === items.at(-1) &&
  item.event.type === "generation.failed" &&
  item.event.error.err === error?.err;

/** The text that equals the structured output, so that it is shown once. */
function structuredAnswer({ object, items }: RunView): Item | undefined {
  if (object === undefined) return undefined;
  const last = items.findLast(({ kind }) => kind === "text");
  if (last?.kind !== "text" || last.retracted !== undefined) return undefined;
  return readsAs(last.text, object) ? last : undefined;
}

function readsAs(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

const keyOf = (item: Item): string =>
  item.kind === "call"
    ? `call ${item.call.id}`
    : `${item.kind} ${item.seq} ${"message" in item ? item.message.role : ""}`;

interface ItemProps extends ConversationProps {
  readonly item: Item;
  /** The structured output. */
  readonly object: unknown;
}

function ItemView({ item, object, live, selected, select, quiet = false, edit }: ItemProps): JSX.Element | null {
  switch (item.kind) {
    case "user":
      return (
        <UserMessage
          edit={item.steered || item.message.role !== "user" || live.whole.endedAt === undefined ? undefined : edit}
          role={item.message.role}
          parts={item.message.parts}
          steered={item.steered}
          by={item.by}
          run={live.id}
        />
      );
    case "call":
      return (
        <CallCard
          call={item.call}
          run={live.id}
          frozen={quiet || live.at.value !== undefined}
          version={item.call.lastSeq}
          retracted={item.call.retracted}
          selected={selected === `call ${item.call.id}`}
          select={select}
        />
      );
    case "notice":
      return opens(item) ? <Unfolding notice={item} view={live.whole} /> : <NoticeView notice={item} />;
    default:
      return (
        <SaidView
          item={item}
          object={object}
          size={item.text.length}
          open={item.open}
          retracted={item.retracted}
          run={quiet || live.whole.endedAt === undefined ? undefined : live.id}
        />
      );
  }
}

const UserMessage = memo(
  ({
    role,
    parts,
    steered,
    by,
    run,
    edit,
  }: {
    edit: ((after: number) => void) | undefined;
    role: string;
    parts: readonly Part[];
    steered: boolean;
    by: string | undefined;
    run: string;
  }) => (
    <div class={`message ${role === "user" ? "user" : "earlier"}`}>
      {steered ? (
        <span class="tag">Steered{printable(byWhom(by))}</span>
      ) : role === "user" ? null : (
        <span class="tag">{role}</span>
      )}
      {parts.map((part, index) => (
        <PartView key={index} part={part} run={run} />
      ))}
      {edit === undefined ? null : (
        <button type="button" class="quiet small edit-again" onClick={() => edit(1)}>
          <Icon name="edit" size={14} /> Edit and run again
        </button>
      )}
    </div>
  ),
);

function PartView({ part, run }: { part: Part; run: string }): JSX.Element {
  switch (part.type) {
    case "text":
    case "reasoning":
      return (
        <div class="pre-wrap" dir="auto">
          {printable(part.text)}
        </div>
      );
    case "image":
    case "file":
      return <Content content={part} run={run} />;
    default:
      return <Json value={part} />;
  }
}

interface SaidProps {
  readonly item: Said;
  readonly object: unknown;
  readonly size: number;
  readonly open: boolean;
  readonly retracted: string | undefined;
  /** Set for an ended run, whose answers can be rated. */
  readonly run: string | undefined;
}

const SaidView = memo(({ item, object, open, retracted, run }: SaidProps) => {
  const inner =
    item.kind === "reasoning" ? (
      <Reasoning item={item} open={open} />
    ) : object === undefined ? (
      <Markdown text={item.text} open={open} />
    ) : (
      <Structured value={object} />
    );
  if (retracted === undefined) {
    return (
      <div class={`said ${item.kind}`}>
        {inner}
        {run === undefined || item.kind !== "text" ? null : <Rating run={run} seq={item.seq} />}
      </div>
    );
  }
  return (
    <div class={`said ${item.kind} retracted`}>
      <span class="tag warning">Retracted: {printable(retracted)}</span>
      <del>{inner}</del>
    </div>
  );
});

function Reasoning({ item, open }: { item: Said; open: boolean }): JSX.Element {
  const seconds = duration(item.endAt - item.at);
  return (
    <details class="reasoning" open={open}>
      <summary>
        <Icon name="thought" size={14} /> {open ? "Thinking" : `Thought for ${seconds}`}
      </summary>
      <Markdown text={item.text} open={open} />
    </details>
  );
}

/** Whether the notice has details beyond its line. */
const opens = ({ event }: Notice): boolean =>
  (event.type === "context.compacted" && event.summary !== undefined) ||
  (event.type === "memory.recalled" && event.notes.length > 0);

function Unfolding({ notice, view }: { notice: Notice; view: RunView }): JSX.Element {
  const open = useSignal(false);
  const { event } = notice;
  const load = () =>
    import("../pages/more.tsx").then(({ Unfolded }) => () => <Unfolded event={event} view={view} />);
  return (
    <details class="notice info unfolding" onToggle={(toggled) => (open.value = toggled.currentTarget.open)}>
      <summary>
        <Icon name="info" size={14} /> <b>{printable(notice.title)}</b>{" "}
        <span class="muted">{printable(notice.text)}</span>
      </summary>
      {open.value ? <Lazy load={load} /> : null}
    </details>
  );
}

function NoticeView({ notice }: { notice: Notice }): JSX.Element {
  return (
    <div class={`notice ${notice.tone}`}>
      <Icon name={notice.tone === "info" ? "info" : "warning"} size={14} />
      <b>{printable(notice.title)}</b>
      <span class="muted">{printable(notice.text)}</span>
    </div>
  );
}
