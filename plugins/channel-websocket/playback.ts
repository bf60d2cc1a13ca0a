/** One sentence and the time it is heard, if the client plays audio as it arrives. */
interface Part {
  readonly characters: number;
  /** When playback of it begins; undefined until its first frame is sent. */
  start: number | undefined;
  /** Duration of the audio sent so far, ms. */
  ms: number;
  /** All of its audio has been sent. */
  whole: boolean;
}

/** How much of a run's text was heard. */
export interface Heard {
  readonly sentences: number;
  /** From the beginning of the text. */
  readonly characters: number;
  readonly ms: number;
}

/**
 * Estimates what a listener has heard. Audio is sent far ahead of playback, so bytes sent tell nothing: each sentence starts
 * when the previous one ends, in real time.
 */
export class Playback {
  readonly #parts: Part[] = [];
  #end = 0;

  begin(text: string): void {
    this.#parts.push({ characters: text.length, start: undefined, ms: 0, whole: false });
  }

  sent(ms: number, now: number): void {
    const part = this.#parts.at(-1);
    if (part === undefined) return;
    part.start ??= Math.max(now, this.#end);
    part.ms += ms;
    this.#end = part.start + part.ms;
  }

  finish(): void {
    const part = this.#parts.at(-1);
    if (part !== undefined) part.whole = true;
  }

  /** At the given time, or after this many ms of audio if the client counted itself. */
  heard(now: number, playedMs?: number): Heard {
    let sentences = 0;
    let characters = 0;
    let ms = 0;
    let left = playedMs ?? Number.POSITIVE_INFINITY;
    for (const part of this.#parts) {
      const byClock = part.start === undefined ? 0 : Math.min(part.ms, Math.max(0, now - part.start));
      const heard = playedMs === undefined ? byClock : Math.min(part.ms, left);
      left -= heard;
      ms += heard;
      if (part.whole && heard >= part.ms) {
        sentences++;
        characters += part.characters;
        continue;
      }
      characters += part.ms === 0 ? 0 : Math.floor((part.characters * heard) / part.ms);
      break;
    }
    return { sentences, characters, ms: Math.round(ms) };
  }
}
