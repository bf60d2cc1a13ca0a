/** PCM audio: interleaved channels, little-endian samples. */
export interface AudioFormat {
  readonly encoding: "pcm_s16le";
  readonly sampleRate: number;
  readonly channels: number;
}

/** Speech being synthesised. Frames hold whole samples. */
export interface Utterance {
  readonly format: AudioFormat;
  readonly frames: AsyncIterable<Uint8Array>;
}

/** Text to speech. Returns undefined when there is nothing to speak, such as code. */
export interface Voice {
  speak(text: string, signal: AbortSignal): Promise<Utterance | undefined>;
}

/** Playing time of this many bytes, ms. */
export const durationOf = (bytes: number, { sampleRate, channels }: AudioFormat): number =>
  (bytes / (2 * channels) / sampleRate) * 1_000;
