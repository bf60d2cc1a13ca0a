import { type AudioFormat, messageOf, type RunEvent, type Utterance, type Voice } from "venturi/plugin";
import { durationOf, Sentences } from "venturi/plugin/channel";
import { type Heard, Playback } from "./playback.ts";

/** The socket's side: JSON messages, audio with backpressure, and the turn to speak, held by one run at a time. */
export interface Outlet {
  message(message: Record<string, unknown>): void;
  audio(frame: Uint8Array): Promise<void>;
  inTurn(speak: () => Promise<void>): Promise<void>;
  warn(message: string, fields: Record<string, unknown>): void;
}

interface Sentence {
  readonly text: string;
  readonly seq: number;
  readonly round: number;
}

/**
 * Speaks one run: assembles sentences from its events and sends each as `speech_start`, binary frames, `speech_end`. Speech is
 * far slower than text, so it continues after the run; `speech_done` ends it.
 */
export class Speaker {
  readonly #voice: Voice;
  readonly #outlet: Outlet;
  readonly #run: string;
  readonly #after: number;
  readonly #playback = new Playback();
  readonly #stop = new AbortController();
  #sentences = new Sentences();
  #waiting: Sentence[] = [];
  #round = 0;
  #current: { readonly round: number; readonly abort: AbortController } | undefined;
  #spoken = 0;
  #ms = 0;
  #ended = false;
  #busy = false;
  /** Everything has been sent. */
  isDone = false;

  constructor(deps: { voice: Voice; outlet: Outlet; run: string; after: number }) {
    this.#voice = deps.voice;
    this.#outlet = deps.outlet;
    this.#run = deps.run;
    this.#after = deps.after;
  }

  take(event: RunEvent): void {
    if (this.#stop.signal.aborted) return;
    switch (event.type) {
      case "text.delta":
        this.#round = event.round;
        return this.#queue(this.#sentences.push(event.text), event);
      case "tool_call.started":
      case "round.finished":
        return this.#queue(this.#sentences.flush(), event);
      case "round.retracted":
        return this.#retract(event.round);
      case "run.finished":
      case "run.failed":
        this.#queue(this.#sentences.flush(), event);
        this.#ended = true;
        this.#finishIfDone();
    }
  }

  /** Barge-in: stops at once and returns how much was heard. */
  interrupt(playedMs?: number): Heard {
    const heard = this.#playback.heard(performance.now(), playedMs);
    this.close();
    return heard;
  }

  close(): void {
    this.#waiting = [];
    this.#ended = true;
    this.#stop.abort();
    this.#current?.abort.abort();
    this.#finishIfDone();
  }

  #queue(texts: readonly string[], { seq }: RunEvent): void {
    if (seq <= this.#after) return;
    for (const text of texts) this.#waiting.push({ text, seq, round: this.#round });
    void this.#speakAll();
  }

  #retract(round: number): void {
    this.#sentences = new Sentences();
    this.#waiting = this.#waiting.filter((sentence) => sentence.round !== round);
    if (this.#current?.round === round) this.#current.abort.abort();
  }

  async #speakAll(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const sentence = next;
      await this.#outlet.inTurn(() => this.#speak(sentence));
    }
    this.#busy = false;
    this.#finishIfDone();
  }

  /** A failing voice costs the listener a sentence, not the run. */
  async #speak({ text, seq, round }: Sentence): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const abort = new AbortController();
    this.#current = { round, abort };
    this.#playback.begin(text);
    const sentence = this.#spoken++;
    const shared = { run: this.#run, seq, sentence };
    let format: AudioFormat | undefined;
    let bytes = 0;
    try {
      const utterance = await this.#voice.speak(text, abort.signal);
      if (utterance === undefined || abort.signal.aborted) return;
      format = utterance.format;
      this.#outlet.message({ type: "speech_start", ...shared, text, format });
      bytes = await this.#send(utterance, abort.signal);
    } catch (thrown) {
      if (!abort.signal.aborted) {
        this.#outlet.warn("a sentence could not be spoken", { run: this.#run, error: messageOf(thrown) });
        this.#outlet.message({ type: "speech_error", ...shared, error: "the voice failed" });
      }
    } finally {
      this.#current = undefined;
      if (!abort.signal.aborted) this.#playback.finish();
      if (format !== undefined) {
        const ms = Math.round(durationOf(bytes, format));
        this.#ms += ms;
        const interrupted = abort.signal.aborted ? { interrupted: true } : {};
        this.#outlet.message({ type: "speech_end", ...shared, bytes, ms, ...interrupted });
      }
    }
  }

  async #send({ format, frames }: Utterance, signal: AbortSignal): Promise<number> {
    let bytes = 0;
    for await (const frame of frames) {
      if (signal.aborted) break;
      this.#playback.sent(durationOf(frame.length, format), performance.now());
      bytes += frame.length;
      await this.#outlet.audio(frame);
    }
    return bytes;
  }

  #finishIfDone(): void {
    if (!this.#ended || this.#busy || this.#waiting.length > 0) return;
    if (this.isDone) return;
    this.isDone = true;
    if (!this.#stop.signal.aborted) {
      this.#outlet.message({ type: "speech_done", run: this.#run, sentences: this.#spoken, ms: this.#ms });
    }
  }
}
