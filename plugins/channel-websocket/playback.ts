/** One sentence and the time it is heard, if the client plays audio as it arrives. */
interface Sentence {
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
  readonly #sentences: Sentence[] = [];
  #end = 0;

  begin(text: string): void {
    this.#sentences.push({ characters: text.length, start: undefined, ms: 0, whole: false });
  }

  sent(ms: number, now: number): void {
    const sentence = this.#sentences.at(-1);
    if (sentence === undefined) return;
    sentence.start ??= Math.max(now, this.#end);
    sentence.ms += ms;
    this.#end = sentence.start + sentence.ms;
  }

  finish(): void {
    const sentence = this.#sentences.at(-1);
    if (sentence !== undefined) sentence.whole = true;
  }

  /** At the given time, or after this many ms of audio if the client counted itself. */
  heard(now: number, playedMs?: number): Heard {
    let sentences = 0;
    let characters = 0;
    let ms = 0;
    let left = playedMs ?? Number.POSITIVE_INFINITY;
    for (const sentence of this.#sentences) {
      const byClock = sentence.start === undefined ? 0 : Math.min(sentence.ms, Math.max(0, now - sentence.start));
      const heard = playedMs === undefined ? byClock : Math.min(sentence.ms, left);
      left -= heard;
      ms += heard;
      if (sentence.whole && heard >= sentence.ms) {
        sentences++;
        characters += sentence.characters;
        continue;
      }
      characters += sentence.ms === 0 ? 0 : Math.floor((sentence.characters * heard) / sentence.ms);
      break;
    }
    return { sentences, characters, ms: Math.round(ms) };
  }
}
