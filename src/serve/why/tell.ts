import type { ErrorJson } from "../../core/errors/errors.ts";
import { idle, isIdle } from "../../core/ports/stalls.ts";
import { byWhom, whoIn } from "../../core/run/by-whom.ts";
import { outcomeOf } from "../../core/run/events.ts";
import type { FoldedAttempt } from "../../core/run/run-fold.ts";
import type { TimePart } from "../../core/run/time-parts.ts";
import { isEmpty, isExit, isFailure, isUnanswered } from "./judge.ts";
import type { Share } from "./shares.ts";
import type { QuestionStory, Story } from "./story.ts";

/** Smaller shares of the time are not mentioned. */
const worthTelling = 0.1;
const mostSentences = 3;

/** Explains the run in a few sentences: how it ended, where the time went, and what else went wrong. */
export function tell(story: Story, children: ReadonlyMap<string, string>): string {
  const { total } = story.shares;
  const shares = story.shares.all.filter(({ ms }) => ms >= Math.max(50, total * worthTelling)).slice(0, mostSentences);
  const parts = shares.map(({ part }) => part);
  const sentences: string[] = [];
  const candidates = [
    ending(story),
    ...shares.map((share) => sentenceOf(story, share, children)),
    ...mishaps(story, parts),
    ...routes(story),
  ];
  for (const sentence of candidates) {
    // A mishap may also be what took the time; mention it once.
    const [what = sentence, end = ""] = sentence.split("; then ");
    const known = sentences.join(" ");
    if (sentence === "" || known.includes(lastWords(what))) continue;
    sentences.push(capital(end === "" || known.includes(`; then ${end}`) ? what : sentence));
  }
  return sentences.map((sentence) => `${sentence}.`).join(" ");
}

/** The text after the last colon, such as an error's message. */
const lastWords = (sentence: string): string =>
  sentence
    .slice(sentence.lastIndexOf(": ") + 1)
    .replace(/\)$/, "")
    .trim();

/** Capitalises the sentence, unless it starts with a model's name. */
const capital = (sentence: string): string =>
  /^\S*\//.test(sentence) ? sentence : `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;

function ending(story: Story): string {
  const { end } = story;
  const took = duration(story.shares.total);
  if (end === undefined) return `the run has been under way for ${took} and now ${nowDoing[story.now] ?? "works"}`;
  if (end.type === "run.failed") {
    const { code, op, err, details } = end.error;
    if (outcomeOf(end) === "failed") return `the run failed after ${took}: ${code}: ${trim(err)} (${op})`;
    return `the run was cancelled after ${took}${byWhom(details?.by)}: ${trim(err)}`;
  }
  const odd = oddEnds[end.finish];
  return odd === undefined ? "" : `${odd}${end.finish === "repeated_calls" ? mostCalled(story) : ""} after ${took}`;
}

/** The tool called most often, and how often. */
function mostCalled({ tools, rejected }: Story): string {
  const names = Map.groupBy([...tools, ...rejected], ({ name }) => name);
  const [most] = [...names].sort(([, left], [, right]) => right.length - left.length);
  return most === undefined ? "" : ` (${most[0]}, ${count(most[1].length, "time")})`;
}

const nowDoing: Partial<Record<TimePart, string>> = {
  approval: "waits for a person",
  backoff: "waits before it asks the provider again",
  tool: "runs a tool",
  providerWait: "waits for the model",
  providerStream: "hears the model",
  providerStall: "waits for the model to go on",
  journal: "waits for the journal",
  hook: "waits for a hook",
  client: "waits for its reader",
  queue: "waits for its turn",
  down: "waits for a worker",
};

const oddEnds: Readonly<Record<string, string>> = {
  length: "the answer was cut at the model's token limit",
  content_filter: "the provider's filter stopped the answer",
  refusal: "the model refused to answer",
  max_rounds: "the run reached its limit of tool rounds",
  max_tool_calls: "the run reached its limit of tool calls",
  max_tokens: "the run used up its tokens",
  budget: "a budget ran out",
  max_time: "the run used up its time",
  max_output: "the model exceeded its output limit",
  repeated_calls: "the model kept repeating the same calls",
};

function sentenceOf(story: Story, share: Share, children: ReadonlyMap<string, string>): string {
  const { part, name, ms } = share;
  const of = `${duration(ms)} of ${duration(story.shares.total)}`;
  switch (part) {
    case "backoff":
      if (failedOf(story, name).length === 0) return `${of} passed until ${name} had room for another generation`;
      return `${of} were backoff after ${failures(story, name)} from ${name}${asked(story, name)}${then(story, name)}`;
    case "failedAttempt":
      return `${of} went into ${count(failedOf(story, name).length, "failed attempt")} at ${name} (${reason(story, name)})${then(story, name)}`;
    case "providerWait":
      return `${of} passed until the first token of ${name}`;
    case "providerStall":
      return `${of} ${name} stalled: ${stallOf(story, name)}`;
    case "providerStream":
      return `${of} ${name} streamed its answer (${rateOf(story, name)})`;
    case "tool":
      return toolSentence(story, share, { of, children });
    case "approval":
      return `${of} ${waited(story.asked, name)}`;
    case "queue": {
      const doing = story.now === "queue" && story.end === undefined ? "is under way" : "was under way";
      const ahead = `an earlier run of its session, ${name}, ${children.get(name) ?? doing}`;
      return `${of} passed before the run began: ${name === "" ? "no worker had room for it" : ahead}`;
    }
    case "down":
      return `${of} nobody worked on it: ${crashIn(story, name)}`;
    case "paused":
      return `${of} ${name === "" ? "it" : name} was paused${story.pausedBy(name)}`;
    case "client":
      return `${of} the run waited for its reader${name === "" ? "" : ` (${name})`}`;
    case "journal":
      return name === ""
        ? `${of} the run waited for the journal to take what it wrote`
        : `${of} the journal could not be written: ${trim(name)}`;
    case "blocked":
      return isIdle(name)
        ? `${of} the process stood still: it was suspended, had no processor or waited for the system${name.slice(idle.length)}`
        : `${of} ${name === "" ? "something" : name} kept the process busy`;
    case "gc":
      return `${of} went into garbage collection${name === "" ? "" : `: ${name} filled the memory`}`;
    case "hook":
      return `${of} ${name} took`;
    case "runtime":
      return `${of} went into Venturi itself`;
  }
}

function crashIn(story: Story, name: string): string {
  const { crashes } = story;
  if (story.stranded) return name;
  const isOver = story.end !== undefined || story.now !== "down";
  if (name === "") return isOver ? "its worker was gone, and another took it over" : "it waits for a worker";
  const tools = crashes.find((crash) => crash.name === name)?.tools ?? [];
  const ran = `the tool ${tools.join(", ")}`;
  if (tools.length > 0 && isExit(name)) return `${ran} ${name}, and another took it over`;
  return `its worker ${name}${tools.length === 0 ? "" : ` while ${ran} ran`}, and another took it over`;
}

const failedOf = (story: Story, name: string): FoldedAttempt[] =>
  story.attempts.filter(({ model, error }) => model === name && error !== undefined);

/** "three 429s and one 503" */
function failures(story: Story, name: string): string {
  const groups = Map.groupBy(
    story.backoffs.filter(({ model }) => model === name),
    ({ error }) => kindOf(error),
  );
  return [...groups].map(([kind, group]) => count(group.length, kind)).join(" and ") || "failures";
}

const kindOf = ({ code, details }: ErrorJson): string => {
  if (typeof details?.status === "number") return String(details.status);
  return code === "unavailable" ? "failed connection" : code.replaceAll("_", " ");
};

function asked(story: Story, name: string): string {
  const waits = story.backoffs
    .filter(({ model, error }) => model === name && typeof error.details?.retryAfterMs === "number")
    .map(({ error }) => Number(error.details?.retryAfterMs));
  return waits.length === 0 ? "" : ` (retry-after ${duration(Math.max(...waits))})`;
}

/** How it continued after the failures. */
function then(story: Story, name: string): string {
  const last = story.attempts.at(-1);
  if (last === undefined || last.error !== undefined || last.finish === undefined) return "";
  const who = last.model === name ? "it" : last.model;
  return `; then ${who} answered in ${duration(last.ms)}`;
}

const reason = (story: Story, name: string): string => {
  const error = failedOf(story, name).at(-1)?.error;
  return error === undefined ? "failed" : `${error.code}: ${trim(error.err)}`;
};

function stallOf(story: Story, name: string): string {
  const worst = story.attempts
    .filter(({ model }) => model === name)
    .reduce((most, attempt) => (attempt.longestGap > most.longestGap ? attempt : most));
  return `nothing came for ${duration(worst.longestGap)} after delta ${worst.gapAfter} of round ${worst.round}, then it went on`;
}

function rateOf(story: Story, name: string): string {
  const heard = story.attempts.filter(({ model, error }) => model === name && !isFailure(error));
  const characters = heard.reduce((sum, attempt) => sum + attempt.characters, 0);
  const ms = story.shares.of("providerStream", name);
  return `${characters} characters, ${Math.round(characters / Math.max(0.001, ms / 1_000))} a second`;
}

function toolSentence(
  story: Story,
  { name }: Share,
  { of, children }: { of: string; children: ReadonlyMap<string, string> },
): string {
  const names = name.split(", ");
  const tools = story.tools.filter((tool) => names.includes(tool.name));
  const child = tools.map((tool) => tool.child).find((run) => run !== undefined);
  if (child !== undefined) {
    const why = children.get(child);
    return `${of} the agent behind ${name} worked (${child})${why === undefined ? "" : `: ${why.replace(/\.$/, "")}`}`;
  }
  const failed = tools.find(({ error }) => error !== undefined)?.error;
  const calls = tools.length > 1 ? ` in ${tools.length} calls` : "";
  return `${of} ${names.length > 1 ? "the tools" : "the tool"} ${name} ran${calls}${failed === undefined ? "" : ` and failed: ${trim(failed.err)}`}`;
}

function waited(questions: readonly QuestionStory[], name: string): string {
  const asked = questions.filter((question) => question.name === name);
  const whose = asked[0]?.agent === undefined ? name : `${name} of the agent ${asked[0].agent}`;
  const asks = asked[0]?.asks === "answer" ? `an answer to ${whose}` : `approval of ${whose}`;
  if (asked.some(isUnanswered)) return `the run waited for ${asks}, and nobody answered in time`;
  const answer = asked.findLast((question) => question.answer !== undefined)?.answer;
  const end =
    answer === undefined
      ? "nobody has answered yet"
      : `${whoIn(answer.by) ?? "somebody"} ${answer.approved ? (asked[0]?.asks === "answer" ? "answered" : "allowed") : "refused"} it`;
  return `the run waited for ${asks}; ${end}`;
}

/** Other mishaps; `parts` were already mentioned. */
function mishaps(story: Story, parts: readonly TimePart[]): string[] {
  const sentences: string[] = [];
  // A crash is always mentioned: after a quick takeover no share of the time shows it.
  if (!parts.includes("down")) {
    for (const name of new Set(story.crashes.map((crash) => crash.name))) sentences.push(crashIn(story, name));
  }
  if (isEmpty(story)) sentences.push(`${story.attempts.at(-1)?.model ?? "the model"} ended its answer without a word`);
  const cut = story.attempts.some(({ finish }) => finish === "length");
  for (const { name, error } of story.rejected.slice(0, 2)) {
    sentences.push(
      cut
        ? `the arguments of ${name} were cut by the model's token limit, so it was not run`
        : `the call of ${name} was rejected: ${trim(error.err)}`,
    );
  }
  for (const { name, answer } of story.asked) {
    if (answer?.approved === false && !isUnanswered({ answer })) {
      sentences.push(
        `${whoIn(answer.by) ?? "somebody"} refused ${name}${answer.reason === undefined ? "" : `: ${trim(answer.reason)}`}`,
      );
    }
  }
  for (const { name, error, cut } of story.tools) {
    if (cut !== undefined)
      sentences.push(`the model got the first ${cut.shown} of ${cut.length} characters that ${name} returned`);
    if (error !== undefined && error.code !== "tool_denied")
      sentences.push(`the tool ${name} failed: ${error.code}: ${trim(error.err)}`);
  }
  if (story.skipped.size > 0)
    sentences.push(`${[...story.skipped].join(", ")} was skipped: its provider's circuit breaker was open`);
  const isMentioned = parts.includes("failedAttempt") || story.backoffs.length > 0;
  if (!isMentioned) sentences.push(...failedOver(story));
  if (story.resumes > 0 && story.shares.of("down") > 0)
    sentences.push(`it was taken up again ${count(story.resumes, "time")}`);
  return sentences.slice(0, 4);
}

/** Why these models were chosen, with the last reason of each. */
function routes({ routes }: Story): string[] {
  const reasons = new Map(routes.map(({ model, reason }) => [model, reason]));
  return [...reasons].slice(-2).map(([model, reason]) => `${model} was chosen (${trim(reason)})`);
}

function failedOver(story: Story): string[] {
  const failed = story.attempts.filter(({ error }) => error !== undefined);
  const last = story.attempts.at(-1);
  if (failed.length === 0 || last === undefined || last.error !== undefined) return [];
  const [first] = failed;
  return [`${first?.model} failed (${first?.error?.code}) and ${last.model} answered in ${duration(last.ms)}`];
}

const words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const count = (number: number, what: string): string =>
  `${words[number] ?? number} ${what}${number === 1 || /s$/.test(what) ? "" : "s"}`;

export const duration = (ms: number): string =>
  ms < 1_000
    ? `${Math.round(ms)} ms`
    : ms < 120_000
      ? `${(ms / 1_000).toFixed(1)} s`
      : `${(ms / 60_000).toFixed(1)} min`;

const trim = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim().replace(/\.$/, "");
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
};
