import type { Message } from "./api-types.ts";
import { type Resource, useResource } from "./resource.ts";
import { client, may } from "./session.ts";

export interface Prompt {
  readonly round: number;
  readonly attempt: number;
  readonly model: string;
  readonly exact: boolean;
  readonly notes: readonly string[];
  readonly messages: readonly Message[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly toolChoice?: unknown;
  readonly output?: unknown;
}

/** The request of a round to its model; undefined for keys that may not see it, and for round 0. */
export const usePrompt = (run: string | undefined, round: number): Resource<Prompt | undefined> =>
  useResource(
    async (signal) =>
      run === undefined || round < 1 || !may("inspect")
        ? undefined
        : await client.value.request<Prompt>({
            op: "run.prompt",
            path: `/v1/runs/${encodeURIComponent(run)}/prompts/${round}`,
            signal,
          }),
    [run, round],
  );

const textOf = (message: Message): string =>
  message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");

export const instructionsOf = (prompt: Prompt | undefined): string =>
  (prompt?.messages ?? [])
    .filter(({ role }) => role === "system")
    .map(textOf)
    .join("\n\n");
