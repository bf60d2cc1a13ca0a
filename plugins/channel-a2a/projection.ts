import { isAsked, type JsonObject, Paragraphs, pendingOf, RoundTexts } from "venturi/internal";
import { isTerminal, type RunEvent } from "venturi/plugin";
import type { Serving } from "./serving.ts";
import { answerId, endStatus, type Ids, questionStatus, status } from "./task.ts";

/**
 * Converts a run's events to task updates. The answer is one artifact that grows; a retracted round replaces it. The final artifact is sent
 * whole, identical to the one in the task.
 */
export class TaskProjection {
  readonly #serving: Serving;
  readonly #ids: Ids;
  readonly #texts = new RoundTexts();
  readonly #paragraphs = new Paragraphs();
  #isBegun = false;
  #isWorking = false;

  constructor(serving: Serving, ids: Ids) {
    this.#serving = serving;
    this.#ids = ids;
  }

  /** Updates for an event that does not end the task. */
  readonly project = (event: RunEvent): JsonObject[] => {
    if (isTerminal(event)) return [{ statusUpdate: { ...this.#ids, status: endStatus(event, this.#ids) } }];
    this.#texts.add(event);
    this.#paragraphs.note(event);
    if (isAsked(event)) return this.#asked(event);
    if (event.type === "round.retracted") return this.#isBegun ? [this.#chunk(this.#texts.text, false)] : [];
    if (event.type === "text.delta") {
      const gap = event.round === this.#paragraphs.round ? "" : this.#paragraphs.begin(event.round);
      return [...this.#working(event), this.#chunk(gap + event.text, this.#isBegun)];
    }
    if (event.type === "round.started") return this.#working(event);
    return event.type === "tool.started" ? [this.#status(event, { tool: event.name })] : [];
  };

  /** The complete artifact, sent before the end. */
  whole(artifact: JsonObject): JsonObject {
    return { artifactUpdate: { ...this.#ids, artifact, lastChunk: true } };
  }

  #asked(event: RunEvent): JsonObject[] {
    if (!isAsked(event) || !this.#serving.mayAnswer) return [];
    const asked = questionStatus(this.#serving, [pendingOf(event)], this.#ids);
    return [{ statusUpdate: { ...this.#ids, status: asked } }];
  }

  #working(event: RunEvent): JsonObject[] {
    if (this.#isWorking) return [];
    this.#isWorking = true;
    return [this.#status(event)];
  }

  #status({ at }: RunEvent, metadata?: JsonObject): JsonObject {
    const about = metadata === undefined ? {} : { metadata };
    return { statusUpdate: { ...this.#ids, status: status("WORKING", at), ...about } };
  }

  #chunk(text: string, append: boolean): JsonObject {
    this.#isBegun = true;
    const artifact = { artifactId: answerId, parts: [{ text }] };
    return { artifactUpdate: { ...this.#ids, artifact, ...(append ? { append: true } : {}) } };
  }
}
