import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import type { Approval } from "venturi/client";
import { AnswerForm } from "../components/answer.tsx";
import { ApprovalForm } from "../components/approval.tsx";
import { BatchDialog } from "../components/batch.tsx";
import { Conversation } from "../components/conversation.tsx";
import { Empty, Header } from "../components/header.tsx";
import { Icon } from "../components/icon.tsx";
import { bindPage } from "../components/palette.tsx";
import { Covered, QuestionLine, TenantTag } from "../components/question-line.tsx";
import { type Receipt, Receipts } from "../components/receipts.tsx";
import { Rows } from "../components/rows.tsx";
import { slowClock } from "../state/clock.ts";
import { onFeed } from "../state/feed.ts";
import { liveRun } from "../state/live.ts";
import { useResource } from "../state/resource.ts";
import { query, setQuery, to } from "../state/router.ts";
import { client, mayFor } from "../state/session.ts";
import { waiting } from "../state/title.ts";
import { printable } from "../text/printable.ts";
import { ago, shortRun } from "../text/words.ts";

const nameOf = ({ run, call }: Approval): string => `${run} ${call}`;
const press = (act: string) => () => document.querySelector<HTMLElement>(`.question [data-act="${act}"]`)?.click();

/** Everything waiting for a person, oldest first. */
export function ApprovalsPage(): JSX.Element {
  const { data, error, loading, again } = useResource(
    (signal) => client.value.questions({ limit: 200, signal }),
    [waiting.value],
    5000,
  );
  const answered = useSignal<ReadonlySet<string>>(new Set());
  const receipts = useSignal<readonly Receipt[]>([]);
  const marked = useSignal<ReadonlySet<string>>(new Set());
  const batch = useSignal<boolean | undefined>(undefined);
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
  // After an answer, the next question opens only on request, so that a second click or key cannot hit it.
  const current = all[at];
  const done = (question: Approval, word: string) => {
    answered.value = new Set([...answered.value, nameOf(question)]);
    receipts.value = [{ question, word, at: Date.now() }, ...receipts.value].slice(0, 20);
    setQuery({ question: undefined });
    again();
  };
  const chosen = all.filter((question) => marked.value.has(nameOf(question)));
  const mark = (questions: readonly Approval[]) => {
    const names = questions.map(nameOf);
    const isOn = names.every((name) => marked.value.has(name));
    const rest = [...marked.value].filter((name) => !names.includes(name));
    marked.value = new Set(isOn ? rest : [...rest, ...names]);
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
          <div class="inbox-side">
            <BatchBar chosen={chosen} all={all} mark={mark} answer={(approved) => (batch.value = approved)} />
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
                if (question === undefined) return null;
                return (
                  <QuestionLine
                    question={question}
                    marked={isTogether(question) ? marked.value.has(nameOf(question)) : undefined}
                    mark={() => mark([question])}
                  />
                );
              }}
            />
          </div>
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
      {batch.value === undefined || chosen.length === 0 ? null : (
        <BatchDialog
          questions={chosen}
          approved={batch.value}
          close={() => (batch.value = undefined)}
          answered={(question, word) => done(question, word)}
        />
      )}
    </div>
  );
}

/** Whether it can be answered together with others: approvals this key may give, but not questions of tools. */
const isTogether = ({ message, tenant }: Approval): boolean => message === undefined && mayFor(tenant, "approve");

interface BatchBarProps {
  readonly chosen: readonly Approval[];
  readonly all: readonly Approval[];
  readonly mark: (questions: readonly Approval[]) => void;
  readonly answer: (approved: boolean) => void;
}

/** Selects all questions of one tool, and answers the selected ones. */
function BatchBar({ chosen, all, mark, answer }: BatchBarProps): JSX.Element | null {
  const tools = [...Map.groupBy(all.filter(isTogether), ({ name }) => name)].filter(([, same]) => same.length > 1);
  if (chosen.length === 0 && tools.length === 0) return null;
  return (
    <div class="batch-bar">
      {tools.slice(0, 3).map(([name, same]) => (
        <button key={name} type="button" class="quiet small" onClick={() => mark(same)}>
          all {same.length} of {printable(name)}
        </button>
      ))}
      {chosen.length === 0 ? null : (
        <>
          <button type="button" data-act="approve-chosen" onClick={() => answer(true)}>
            Approve {chosen.length} …
          </button>
          <button type="button" data-act="deny-chosen" onClick={() => answer(false)}>
            Deny {chosen.length} …
          </button>
        </>
      )}
    </div>
  );
}

function Question({ question, done }: { question: Approval; done: (word: string) => void }): JSX.Element {
  const live = useMemo(() => liveRun(question.run), [question.run]);
  useEffect(() => live.hold(), [live]);
  const { origin } = question;
  // A called run asked it at a time of its own.
  const since = origin === undefined ? question.since : undefined;
  const asked = { ...question, since, run: origin?.run ?? question.run, call: origin?.call ?? question.call };
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
          , {ago(question.since, slowClock.value)} <TenantTag tenant={question.tenant} />
        </p>
        {question.show === undefined ? null : (
          <p class="show-line">
            <Covered question={question} most={200} />
          </p>
        )}
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
