/** One sentence of the text, with the time at which it is heard when the client plays what it gets as it gets it. */
interface Part {
  readonly characters: number;
  /** When it begins to be heard; undefined until its first frame is sent. */
  start: number | undefined;
  /** How much audio of it was sent so far, in ms. */
  ms: number;
  /** All of its audio was sent. */
  whole: boolean;
}

/** How much of a run's text has been heard. */
export interface Heard {
  readonly sentences: number;
  /** Of the text from its beginning. */
  readonly characters: number;
  readonly ms: number;
}

/**
 * Follows what a listener hears. Audio is sent as soon as it is made, far ahead of the ear, so what was sent does not tell: each
 * sentence is heard when the one before has ended, at the speed of sound.
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

  /** At a time, or after so many ms of audio where the client counted them itself. */
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
