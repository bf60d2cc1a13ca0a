import { isCutShort, openaiRates, RoundTexts, withCost } from "venturi/internal";
import type { ChannelHost, EventOf, RunEvent, RunRequest, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { awaitRun, dataFrame, nativeOf, Paragraphs, startRun, streamRun } from "venturi/plugin/channel";
import { z } from "zod";
import { chatUsage } from "./chat-completion.ts";
import { createdOf } from "./created.ts";
import { errorFrame, failures, replyToFailure } from "./errors.ts";
import type { Options } from "./options.ts";

const CompletionRequest = z.looseObject({
  model: z.string().describe("the agent's name"),
  prompt: z.union([z.string(), z.array(z.string()).length(1, "one prompt a request")]),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.number().int().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: z.number().int().nullish(),
});
type CompletionRequest = z.output<typeof CompletionRequest>;

const carried: ReadonlySet<string> = new Set(Object.keys(CompletionRequest.shape));
const defaults = { n: 1, best_of: 1, echo: false, frequency_penalty: 0, presence_penalty: 0 };

/** `POST /completions`, the legacy API: the prompt becomes the user message. */
export function mountCompletions(host: ChannelHost<FastifyInstance>, { onDisconnect, compat }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "Legacy completions; model is an agent", tags: ["openai"], body: CompletionRequest };
  server.post("/completions", { schema }, async (request, reply) => {
    const { body } = request;
    const opening = { host, request, reply, channel: "openai", onDisconnect, compat, rates: openaiRates };
    const served = await startRun(opening, toRunRequest(body));
    const created = createdOf(served.run, Date.now());
    const head = { id: `cmpl-${served.run}`, object: "text_completion", created, model: body.model };
    if (body.stream) {
      await streamRun(served, projection(head, body.stream_options), failures);
      return reply;
    }
    const texts = new RoundTexts();
    const last = await awaitRun(served, texts.add);
    if (last === undefined) return reply;
    if (last.type === "run.failed") return replyToFailure(reply, last.error);
    return reply.send({
      ...head,
      choices: [choice(texts.text, finishOf(last))],
      usage: withCost(chatUsage(last.usage), last),
    });
  });
}

function toRunRequest(body: CompletionRequest): RunRequest {
  const { max_tokens: maxTokens, temperature, top_p: topP, stop, seed } = body;
  return {
    agent: body.model,
    input: { text: typeof body.prompt === "string" ? body.prompt : (body.prompt[0] ?? "") },
    options: {
      ...(maxTokens == null ? {} : { maxTokens }),
      ...(temperature == null ? {} : { temperature }),
      ...(topP == null ? {} : { topP }),
      ...(stop == null ? {} : { stop: typeof stop === "string" ? [stop] : stop }),
      ...(seed == null ? {} : { seed }),
    },
    ...nativeOf("openai-completions", body, { carried, defaults }),
  };
}

function projection(
  head: Record<string, unknown>,
  options: CompletionRequest["stream_options"],
): (event: RunEvent) => string {
  const paragraphs = new Paragraphs();
  return (event) => {
    if (event.type === "text.delta") {
      const text = event.round === paragraphs.round ? event.text : paragraphs.begin(event.round) + event.text;
      return dataFrame({ ...head, choices: [choice(text, null)] });
    }
    paragraphs.note(event);
    if (event.type === "run.failed") return errorFrame(event.error);
    if (event.type !== "run.finished") return "";
    const usage =
      options?.include_usage === true
        ? dataFrame({ ...head, choices: [], usage: withCost(chatUsage(event.usage), event) })
        : "";
    return `${dataFrame({ ...head, choices: [choice("", finishOf(event))] })}${usage}data: [DONE]\n\n`;
  };
}

const choice = (text: string, finish_reason: string | null) => ({ text, index: 0, logprobs: null, finish_reason });

const finishOf = ({ finish }: EventOf<"run.finished">): string =>
  isCutShort(finish) ? "length" : finish === "content_filter" ? finish : "stop";
