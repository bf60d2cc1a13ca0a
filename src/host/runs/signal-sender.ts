import { hash } from "node:crypto";
import type { AgentDefinition } from "../../agent/run/definition.ts";
import { blocked } from "../../agent/run/guard-filter.ts";
import { screenSaid } from "../../agent/run/screen-input.ts";
import { misfit } from "../../agent/tools/answers.ts";
import { ToolTable } from "../../agent/tools/tool-table.ts";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { Chance } from "../../core/ports/chance.ts";
import type { Log } from "../../core/ports/log.ts";
import type { EventOf } from "../../core/run/events.ts";
import type { AskedEvent } from "../../core/run/questions.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import type { SignalBody, SignalKind } from "../../core/run/signals.ts";
import { askedAbout } from "./approval-questions.ts";
import { Callers } from "./callers.ts";
import { checkSignal } from "./check-signal.ts";
import { existingRun, noRun } from "./existing-run.ts";
import { checkSignalBounds, isName } from "./request-bounds.ts";

const op = "run.signal";

interface SignalDeps {
  readonly journal: Journal;
  readonly log: Log;
  readonly chance: Chance;
  /** The agent of the current revision. */
  readonly agent: (name: string) => AgentDefinition | undefined;
  /** Whether any agent has guards. */
  readonly guarded: () => boolean;
}

/** Sends signals to runs, wherever they execute. Answers to approval requests are matched with their question and audited. */
export class SignalSender {
  readonly #deps: SignalDeps;

  constructor(deps: SignalDeps) {
    this.#deps = deps;
  }

  /** False when the signal was sent before, or the question is already answered. */
  async send<Kind extends SignalKind>(
    run: string,
    { kind, body, id }: { kind: Kind; body: SignalBody<Kind>; id: string | undefined },
  ): Promise<boolean> {
    const checked = checkSignal(kind, body);
    checkSignalBounds(checked);
    if (!isName(run)) throw noRun(op, run);
    if ("call" in checked) return this.#answer(run, checked);
    const screened = "text" in checked ? await this.#screened(run, checked) : checked;
    return this.#deps.journal.signal(run, { id: id ?? this.#deps.chance.uuid(), kind, body: screened });
  }

  /** The message after guards. A blocked message is refused and not stored. */
  async #screened(run: string, message: SignalBody<"message">): Promise<Record<string, unknown>> {
    const { journal, agent, guarded } = this.#deps;
    if (!guarded()) return message;
    const { value: text, verdicts } = screenSaid(agent((await existingRun(journal, run)).agent)?.guards, message.text);
    const refused = verdicts.find(({ action }) => action === "block");
    if (refused !== undefined) throw blocked(refused.guard, "input", `${refused.count ?? 1} ${refused.rule}`);
    return verdicts.length === 0 ? message : { ...message, text, guarded: verdicts };
  }

  #masked({ agent: name }: RunRow, said: unknown): unknown {
    const { value, verdicts } = screenSaid(this.#deps.agent(name)?.guards, said);
    const refused = verdicts.find(({ action }) => action === "block");
    if (refused !== undefined) throw blocked(refused.guard, "input", `${refused.count ?? 1} ${refused.rule}`);
    return value;
  }

  async #answer(run: string, { since, ...given }: SignalBody<"approve">): Promise<boolean> {
    const { journal, agent } = this.#deps;
    const row = await existingRun(journal, run);
    const { count, answered, asked } = await askedAbout(journal, run, given.call);
    if (answered || row.state === "done" || (since !== undefined && since !== asked?.at)) return false;
    if (asked?.type === "question.asked") checkAnswer(asked, given);
    else if (given.answer !== undefined) {
      throw new VenturiError(
        op,
        "invalid_input",
        "answer: the question is whether the call may be made; leave this out",
      );
    }
    const answer = given.answer === undefined ? given : { ...given, answer: this.#masked(row, given.answer) };
    // Derived from the question, so that a second answer to it gets a conflict.
    const id = `approve:${answer.call}:${count}`;
    if (asked?.origin !== undefined) return await this.#answerThere(asked.origin, { run, id, answer });
    const isPlain = answer.arguments === undefined && answer.for === undefined;
    if (!isPlain && asked !== undefined) {
      if (!answer.approved) {
        const which = answer.arguments === undefined ? "for" : "arguments";
        throw new VenturiError(op, "invalid_input", `${which}: a refused call is not made; leave this out`);
      }
      if (answer.arguments !== undefined) checkChanged(agent(row.agent), asked.name, answer.arguments);
    }
    const taken = await journal.signal(run, { id, kind: "approve", body: answer });
    if (taken) {
      await new Callers(journal, row).answered(answer);
      await this.#audit(row, answer, asked);
    }
    return taken;
  }

  /**
   * Answers a question of a called run's tool where it was asked, since the first answer there counts. That run forwards
   * the answer to its callers. It is stored here as well: this run may be a fork of the caller, or the process died before forwarding.
   */
  async #answerThere(
    { run, call }: NonNullable<AskedEvent["origin"]>,
    here: { readonly run: string; readonly id: string; readonly answer: SignalBody<"approve"> },
  ): Promise<boolean> {
    const { journal } = this.#deps;
    const taken = await this.#answer(run, { ...here.answer, call });
    const { arguments: _, for: __, ...verdict } = here.answer;
    const known = taken ? verdict : (await askedAbout(journal, run, call)).verdict;
    const body = { ...known, call: here.answer.call };
    if (known !== undefined) await journal.signal(here.run, { id: here.id, kind: "approve", body });
    return taken;
  }

  /** The answer is already stored, so a failure to audit it is only logged. */
  async #audit(row: RunRow, answer: SignalBody<"approve">, asked: AskedEvent | undefined) {
    const { journal, log } = this.#deps;
    const isQuestion = asked?.type === "question.asked";
    const hash = hashOf(isQuestion ? (answer.answer ?? null) : (asked?.arguments ?? {}));
    const given = isQuestion ? "question.answered" : "approval.given";
    const refused = isQuestion ? "question.declined" : "approval.denied";
    const entry = {
      action: answer.approved ? given : refused,
      by: answer.by ?? "local",
      tenant: row.tenant,
      run: row.run,
      details: {
        call: answer.call,
        tool: asked?.name ?? "",
        [isQuestion ? "answer" : "arguments"]: `sha256:${hash}`,
        ...(answer.for === undefined ? {} : { for: answer.for }),
        ...(answer.arguments === undefined ? {} : { changed: `sha256:${hashOf(answer.arguments)}` }),
      },
    };
    const failed = (thrown: unknown) => log.error("not audited", { ...entry, error: messageOf(thrown) });
    await journal.audit(entry).catch(failed);
  }
}

/** Validates arguments changed by a person against the tool's schema, if the tool is known here. */
function checkChanged(agent: AgentDefinition | undefined, name: string, changed: Record<string, unknown>): void {
  const tools = new ToolTable(agent?.tools() ?? []);
  if (tools.get(name) === undefined) return;
  const checked = tools.check(name, { ...changed });
  if (!checked.ok) throw new VenturiError(op, "invalid_input", checked.error.message);
}

function checkAnswer(asked: EventOf<"question.asked">, { approved, answer, ...others }: SignalBody<"approve">): void {
  const wrong = (message: string) => new VenturiError(op, "invalid_input", message);
  if (others.arguments !== undefined || others.for !== undefined) {
    throw wrong(
      `${others.for === undefined ? "arguments" : "for"}: a question is answered with \`answer\`; leave this out`,
    );
  }
  if (!approved) {
    if (answer !== undefined) throw wrong("answer: a declined question has none; leave it out");
    return;
  }
  const problem = misfit(asked, answer);
  if (problem !== undefined) throw wrong(`answer${problem}`);
}

const hashOf = (value: unknown): string => hash("sha256", JSON.stringify(value));
