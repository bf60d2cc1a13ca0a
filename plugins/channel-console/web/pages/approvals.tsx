import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import type { Approval } from "venturi/client";
import { AnswerForm } from "../parts/answer.tsx";
import { ApprovalForm } from "../parts/approval.tsx";
import { Conversation } from "../parts/conversation.tsx";
import { Empty, Header } from "../parts/header.tsx";
import { Icon } from "../parts/icon.tsx";
import { Arguments } from "../parts/json.tsx";
import { bindPage } from "../parts/palette.tsx";
import { Rows } from "../parts/rows.tsx";
import { slowClock } from "../state/clock.ts";
import { onFeed } from "../state/feed.ts";
import { liveRun } from "../state/live.ts";
import { useResource } from "../state/resource.ts";
import { query, setQuery, to } from "../state/router.ts";
import { client } from "../state/session.ts";
import { waiting } from "../state/waiting.ts";
import { printable } from "../text/printable.ts";
import { ago, duration, shortRun } from "../text/words.ts";

const nameOf = ({ run, call }: Approval): string => `${run} ${call}`;
const press = (act: string) => () => document.querySelector<HTMLElement>(`.question [data-act="${act}"]`)?.click();

/** Everything that waits for a person, oldest first. */
export function ApprovalsPage(): JSX.Element {
  const { data, error, loading, again } = useResource(
    (signal) => client.value.questions({ limit: 200, signal }),
    [waiting.value],
    5000,
  );
  const answered = useSignal<ReadonlySet<string>>(new Set());
  const receipts = useSignal<readonly Receipt[]>([]);
  useEffect(() => onFeed(({ type }) => (type.startsWith("approval.") || type.startsWith("question.")) && again()), []);
  useLayoutEffect(
    () =>
      bindPage([
        { word: "Approve", hint: "a", key: "a", run: press("approve") },
        { word: "Allow for this run", hint: "r", key: "r", run: press("allow") },
        { word: "Deny", hint: "d", key: "d", run: press("deny") },
        { word: "Edit the arguments", hint: "e", key: "e", run: press("edit") },
        { word: "Undo the answer", hint: "u", key: "u", run: press("undo") },
        { word: "Next question", hint: "n", key: "n", run: press("next") },
      ]),
    [],
  );
  const all = (data?.questions ?? []).filter((question) => !answered.value.has(nameOf(question)));
  const wanted = query.value.get("question");
  const found = all.findIndex((question) => nameOf(question) === wanted);
  const at = wanted === null && receipts.value.length === 0 ? 0 : found;
  // After an answer the next question waits until it is asked for, so that no second click or key reaches it.
  const current = all[at];
  const done = (question: Approval, word: string) => {
    answered.value = new Set([...answered.value, nameOf(question)]);
    receipts.value = [{ question, word, at: Date.now() }, ...receipts.value].slice(0, 20);
    setQuery({ question: undefined });
    again();
  };
  const next = () => {
    const [first] = all;
    if (first !== undefined) setQuery({ question: nameOf(first) });
  };
  return (
    <div class="page">
      <Header title="Approvals" actions={<NotifyButton />}>
        <span class="fact">{loading ? "" : `${all.length} waiting`}</span>
      </Header>
      {error === undefined ? null : (
        <p class="problem bar" role="alert">
          {printable(error.message)}
        </p>
      )}
      {all.length === 0 ? (
        loading ? null : (
          <Empty title="Nothing waits for you">
            <p class="muted">
              Tool calls that need a person appear here: those of tools with <code>approval</code> in the configuration,
              and what tools ask.
            </p>
            <Receipts receipts={receipts.value} />
          </Empty>
        )
      ) : (
        <div class="run-body inbox">
          <Rows
            label="Questions"
            className="inbox-list"
            count={all.length}
            height={58}
            selected={at}
            choose={(index) => {
              const question = all[index];
              if (question !== undefined) setQuery({ question: nameOf(question) });
            }}
            row={(index) => {
              const question = all[index];
              return question === undefined ? null : <Line question={question} />;
            }}
          />
          {current === undefined ? (
            <div class="question">
              <Receipts receipts={receipts.value} />
              <button type="button" data-act="next" onClick={next}>
                Next question
              </button>
            </div>
          ) : (
            <Question key={nameOf(current)} question={current} done={(word) => done(current, word)} />
          )}
        </div>
      )}
    </div>
  );
}

interface Receipt {
  readonly question: Approval;
  readonly word: string;
  readonly at: number;
}

/** What was answered here, newest first. */
function Receipts({ receipts }: { receipts: readonly Receipt[] }): JSX.Element | null {
  if (receipts.length === 0) return null;
  return (
    <ul class="receipts" aria-label="Answered">
      {receipts.map(({ question, word, at }) => (
        <li key={nameOf(question)}>
          {word}: <b class="mono">{printable(question.name)}</b> <Arguments value={question.arguments} most={60} />{" "}
          <a href={to("runs", question.run)}>
            <span class="mono">{shortRun(question.run)}</span>
          </a>{" "}
          <span class="faint">{ago(at, slowClock.value)}</span>
        </li>
      ))}
    </ul>
  );
}

function Line({ question }: { question: Approval }): JSX.Element {
  const left = question.until === undefined ? undefined : question.until - slowClock.value;
  return (
    <div class="question-line">
      <span class="question-top">
        <Icon name="hand" size={14} />
        <b class="mono">{printable(question.name)}</b>
        <span class="spacer" />
        <span class="faint">{ago(question.since, slowClock.value)}</span>
      </span>
      <span class="question-low">
        <span class="muted">{printable(question.agent)}</span>
        {question.tenant === undefined || question.tenant === "default" ? null : (
          <span class="tag">{printable(question.tenant)}</span>
        )}
        {question.message === undefined ? (
          <Arguments value={question.arguments} most={60} />
        ) : (
          <span dir="auto">{printable(question.message.slice(0, 60))}</span>
        )}
        {left !== undefined && left < 600_000 ? (
          <span class="tag warning">{duration(Math.max(0, left))} left</span>
        ) : null}
      </span>
    </div>
  );
}

function Question({ question, done }: { question: Approval; done: (word: string) => void }): JSX.Element {
  const live = useMemo(() => liveRun(question.run), [question.run]);
  useEffect(() => live.hold(), [live]);
  const { origin } = question;
  const asked = { ...question, run: origin?.run ?? question.run, call: origin?.call ?? question.call };
  return (
    <div class="question">
      <div class="question-card">
        <h2>
          <Icon name="hand" /> <span class="mono">{printable(question.name)}</span>
        </h2>
        <p class="muted">
          {printable(question.agent)} asks in{" "}
          <a href={to("runs", question.run)}>
            <span class="mono">{shortRun(question.run)}</span>
          </a>
          , {ago(question.since, slowClock.value)}
        </p>
        {question.message === undefined ? (
          <ApprovalForm question={asked} answered={done} />
        ) : (
          <AnswerForm question={{ ...asked, message: question.message }} answered={done} />
        )}
      </div>
      <h3 class="lead">What led there</h3>
      <div class="led">
        <Conversation live={live} selected={undefined} select={() => {}} quiet />
      </div>
    </div>
  );
}

function NotifyButton(): JSX.Element | null {
  const state = useSignal(typeof Notification === "undefined" ? "denied" : Notification.permission);
  useEffect(
    () =>
      onFeed((item) => {
        if (item.type !== "approval.requested" && item.type !== "question.asked") return;
        if (!document.hidden || state.value !== "granted") return;
        new Notification(`${item.name} ${item.type === "question.asked" ? "asks something" : "needs approval"}`, {
          body: item.agent,
          tag: item.run,
        });
      }),
    [],
  );
  if (state.value !== "default") return null;
  const ask = async () => {
    state.value = await Notification.requestPermission();
  };
  return (
    <button type="button" class="quiet" onClick={ask}>
      Notify me
    </button>
  );
}
