import {
  type AgentContext,
  type ContentBlock,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import type { Runs } from "../../core/ports/runs.ts";
import { isTerminal, type TerminalEvent } from "../../core/run/events.ts";
import type { AskedEvent } from "../../core/run/questions.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import type { SignalBody } from "../../core/run/signals.ts";
import { type Asking, askClient } from "./ask.ts";
import { blocksOf, inputOf, textOfBlocks } from "./content.ts";
import { Following, type OpenQuestion } from "./following.ts";
import { stopReasonOf } from "./stop-reason.ts";
import { type SessionFolds, Updates } from "./updates.ts";

export interface SessionDeps {
  readonly runs: Runs;
  readonly client: AgentContext;
  readonly capabilities: Asking["capabilities"];
  readonly folds: SessionFolds;
}

/** Metadata by which runs of editors are found. */
export const sessionTags = { client: "acp", cwd: "acp.cwd" } as const;

/** A conversation in an editor. Its state is in the journal: the runs of the session with its id. */
export class Session {
  readonly id: string;
  readonly cwd: string;
  agent: string;
  model: string | undefined;
  readonly #deps: SessionDeps;
  readonly #following = new Map<string, Following>();
  /** Tools that the user allowed for the whole session. */
  readonly #allowed = new Set<string>();
  /** A question asked in the conversation: the next prompt is its answer. */
  #open: OpenQuestion | undefined;
  #turn: { cancelled: boolean } | undefined;
  /** Runs started by this connection's prompts, while it follows them. */
  readonly #begun = new Set<string>();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(of: { readonly id: string; readonly cwd: string; readonly agent: string }, deps: SessionDeps) {
    this.id = of.id;
    this.cwd = of.cwd;
    this.agent = of.agent;
    this.#deps = deps;
  }

  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    if (this.#turn !== undefined) throw RequestError.invalidRequest(undefined, "a prompt of this session is under way");
    const turn = { cancelled: false };
    this.#turn = turn;
    const onAbort = () => this.cancel();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const last = await this.#noted(this.#respond(blocks, turn));
      if (turn.cancelled) return "cancelled";
      return last === undefined ? "end_turn" : stopReasonOf(last);
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#turn = undefined;
    }
  }

  cancel(): void {
    if (this.#turn !== undefined) this.#turn.cancelled = true;
    const open = this.#open?.run;
    this.#open = undefined;
    const runs = [...this.#following.keys(), ...(open === undefined ? [] : [open])];
    for (const run of new Set(runs)) this.#cancelRun(run);
  }

  /** Shows the session's past runs; one left by a dead process continues and is followed. */
  async load(rows: readonly RunRow[]): Promise<void> {
    for (const { run } of rows) {
      const updates = new Updates(run, this.#deps.folds);
      let last: TerminalEvent | undefined;
      let seq = 0;
      for (let next: number | undefined = 0; next !== undefined; ) {
        const page = await this.#deps.runs.events(run, { after: next });
        for (const event of page.events) {
          if (event.type === "run.started") await this.#replayInput(run, event.input);
          if (isTerminal(event)) last = event;
          seq = event.seq;
        }
        await this.#show(updates.of(page.events));
        next = page.next;
      }
      if (last === undefined) this.#followOn({ run, seq, updates });
      else if (last.type === "run.failed") await this.say(`The run ended with ${last.error.code}: ${last.error.err}`);
    }
  }

  async say(text: string): Promise<void> {
    await this.#show([{ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }]);
  }

  /** The editor is gone: cancels runs started here; runs only watched continue. */
  async end(): Promise<void> {
    if (this.#turn !== undefined) this.#turn.cancelled = true;
    for (const [run, following] of this.#following) {
      if (this.#begun.has(run)) this.#cancelRun(run);
      else following.leave();
    }
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  #noted<T>(work: Promise<T>): Promise<T> {
    const done = work.finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
    return done;
  }

  async #respond(blocks: readonly ContentBlock[], turn: { cancelled: boolean }): Promise<TerminalEvent | undefined> {
    const place = (await this.#answer(blocks)) ?? (await this.#start(blocks));
    if (place === "asked again") return undefined;
    if (turn.cancelled) this.#cancelRun(place.run);
    return await this.#follow(place);
  }

  async #start(blocks: readonly ContentBlock[]): Promise<OpenQuestion> {
    const { runs, folds } = this.#deps;
    try {
      const { run } = await runs.start({
        agent: this.agent,
        input: inputOf(blocks),
        session: this.id,
        metadata: { client: sessionTags.client, [sessionTags.cwd]: this.cwd },
        ...(this.model === undefined ? {} : { model: this.model }),
      });
      this.#begun.add(run);
      return { run, seq: 0, updates: new Updates(run, folds) };
    } catch (thrown) {
      if (VenturiError.is(thrown, "invalid_input")) throw RequestError.invalidParams(undefined, thrown.message);
      throw new RequestError(-32603, messageOf(thrown));
    }
  }

  /** Uses the prompt as the answer to the question that ended the last turn, if any. */
  async #answer(blocks: readonly ContentBlock[]): Promise<OpenQuestion | "asked again" | undefined> {
    const open = this.#open;
    if (open?.asked === undefined) return undefined;
    const { run, asked } = open;
    const isOpen = (await this.#deps.runs.pending(run)).some(({ call }) => call === asked.call);
    this.#open = undefined;
    if (!isOpen) {
      this.#followOn(open); // Answered elsewhere or too late; the new run comes after it.
      return undefined;
    }
    const text = textOfBlocks(blocks);
    try {
      const answer = asked.schema === undefined ? text : parsed(text);
      await this.#signal(run, { call: asked.call, approved: true, answer, by: "acp" });
      return open;
    } catch (thrown) {
      if (!VenturiError.is(thrown, "invalid_input")) throw thrown;
      this.#open = open;
      await this.say(`That does not fit: ${thrown.message}`);
      return "asked again";
    }
  }

  /** Follows to the run's end, or to a question that only a message can answer. */
  async #follow(place: OpenQuestion): Promise<TerminalEvent | undefined> {
    const { run, updates } = place;
    const following = new Following(this.#deps.runs, {
      place,
      show: (events) => this.#show(updates.of(events)),
      ask: (event, closed) => this.#ask(event, updates, closed),
    });
    this.#following.set(run, following);
    try {
      const { last, open } = await following.ended;
      this.#open = open ?? this.#open;
      return last;
    } finally {
      this.#following.delete(run);
      if (this.#open?.run !== run) this.#begun.delete(run);
    }
  }

  #followOn(place: OpenQuestion): void {
    const shown = this.#follow(place).then(async (last) => {
      if (last?.type === "run.failed") await this.say(`The run ended with ${last.error.code}: ${last.error.err}`);
    });
    this.#noted(shown).catch(() => {}); // Nobody reads, or the journal fails.
  }

  /** False: to be asked in the conversation. */
  async #ask(event: AskedEvent, updates: Updates, closed: AbortSignal): Promise<boolean> {
    const { run, call, name, origin } = event;
    const tool = `${origin?.agent ?? ""}/${name}`;
    if (event.type === "approval.requested" && this.#allowed.has(tool)) {
      await this.#signal(run, { call, approved: true, by: "acp", for: "run", reason: "allowed for this session" });
      return true;
    }
    await this.#show(updates.announced(call, event.type === "question.asked" ? event.message : name));
    const { client, capabilities, folds } = this.#deps;
    const view: SessionFolds["view"] = (...of) => folds.files.completed(folds.view(...of));
    const asking = { client, capabilities, sessionId: this.id, toolCallId: updates.idOf(call), view, closed };
    for (let left = tries; left > 0; left--) {
      const answer = await askClient(asking, event);
      if (closed.aborted) return true;
      if (answer === undefined) break;
      const { always, ...body } = answer;
      if (always === true) this.#allowed.add(tool);
      try {
        await this.#signal(run, { call, ...body });
        return true;
      } catch (thrown) {
        if (!VenturiError.is(thrown, "invalid_input")) throw thrown;
        await this.say(`That does not fit: ${thrown.message}`);
      }
    }
    if (event.type === "question.asked") await this.say(event.message);
    return false;
  }

  async #signal(run: string, body: SignalBody<"approve">): Promise<void> {
    await this.#deps.runs.signal(run, "approve", body, `approve:${body.call}`);
  }

  #cancelRun(run: string): void {
    this.#noted(this.#deps.runs.cancel(run, "cancelled in the editor")).catch(() => {}); // It has already ended.
  }

  async #replayInput(run: string, input: Parameters<typeof blocksOf>[0]): Promise<void> {
    const blocks = await blocksOf(input, (hash) => this.#deps.runs.content(run, hash));
    await this.#show(blocks.map((content) => ({ sessionUpdate: "user_message_chunk", messageId: run, content })));
  }

  async #show(updates: readonly SessionUpdate[]): Promise<void> {
    for (const update of updates) {
      await this.#deps.client.notify("session/update", { sessionId: this.id, update });
    }
  }
}

/** How often an unfitting answer is asked for again. */
const tries = 3;

/** Parses typed text where a value is expected. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
