import { Duration, type Voice } from "venturi/plugin";
import { z } from "zod";
import { speakable } from "./speakable.ts";
import { fromPcm, fromWav } from "./wav.ts";

export const OpenAiOptions = z.strictObject({
  type: z.literal("openai"),
  baseUrl: z.url({ protocol: /^https?$/ }).default("https://api.openai.com/v1"),
  apiKey: z.string().optional(),
  model: z.string().default("gpt-4o-mini-tts"),
  voice: z.string().default("alloy"),
  instructions: z.string().optional().describe("speaking instructions, for models that support them"),
  format: z.enum(["pcm", "wav"]).default("pcm").describe("audio format to request"),
  sampleRate: z.number().int().positive().default(24_000).describe("sample rate of the server's `pcm`"),
  timeout: Duration.default(30_000).describe("timeout for the first audio of a sentence"),
});
type OpenAiOptions = z.output<typeof OpenAiOptions>;

/** Any server with OpenAI's `POST /audio/speech`. */
export function openAiVoice(options: OpenAiOptions): Voice {
  const url = `${options.baseUrl.replace(/\/+$/, "")}/audio/speech`;
  return {
    async speak(text, signal) {
      const input = speakable(text);
      if (input === "") return undefined;
      const { body } = await ask(url, options, { input, signal });
      if (options.format === "wav") return await fromWav(body);
      return fromPcm(body, { encoding: "pcm_s16le", sampleRate: options.sampleRate, channels: 1 });
    },
  };
}

async function ask(
  url: string,
  { apiKey, model, voice, format, instructions, timeout }: OpenAiOptions,
  { input, signal }: { readonly input: string; readonly signal: AbortSignal },
): Promise<{ body: AsyncIterable<Uint8Array> }> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no audio after ${timeout} ms`)), timeout);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, voice, input, response_format: format, ...(instructions && { instructions }) }),
      signal: AbortSignal.any([signal, late.signal]),
      redirect: "error",
    });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new Error(`the server answered ${response.status}`);
    }
    return { body: response.body };
  } finally {
    clearTimeout(timer);
  }
}
