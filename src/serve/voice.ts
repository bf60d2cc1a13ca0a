/** How audio is written: samples of one channel after another, least significant byte first. */
export interface AudioFormat {
  readonly encoding: "pcm_s16le";
  readonly sampleRate: number;
  readonly channels: number;
}

/** Something said, as it is being made. Frames hold whole samples. */
export interface Utterance {
  readonly format: AudioFormat;
  readonly frames: AsyncIterable<Uint8Array>;
}

/** Turns text into audio. `undefined` for text that has nothing to be said, such as code. */
export interface Voice {
  speak(text: string, signal: AbortSignal): Promise<Utterance | undefined>;
}

/** How long so many bytes are heard, in ms. */
export const durationOf = (bytes: number, { sampleRate, channels }: AudioFormat): number =>
  (bytes / (2 * channels) / sampleRate) * 1_000;
