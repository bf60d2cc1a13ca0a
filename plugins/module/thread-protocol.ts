import type { ToolContext } from "venturi/plugin";

/** What can be cloned of a call's context into the thread; the rest is messages. */
export type PlainContext = Pick<
  ToolContext,
  "run" | "round" | "call" | "agent" | "attempt" | "idempotencyKey" | "depth"
> & {
  readonly session?: string;
  readonly traceparent?: string;
};

export interface ThreadOptions {
  readonly file: string;
  readonly exported: string;
}

export type ToThread =
  | { readonly type: "call"; readonly input: Record<string, unknown>; readonly context: PlainContext }
  | { readonly type: "cancel"; readonly reason: string };

export type Level = "debug" | "info" | "warn" | "error";

export type FromThread =
  /** The tool's description, once loaded. `parameters` is a JSON Schema. */
  | {
      readonly type: "loaded";
      readonly description: string;
      readonly parameters: Record<string, unknown>;
      readonly effect?: string;
      readonly timeout?: number;
    }
  | { readonly type: "progress"; readonly text: string }
  | { readonly type: "log"; readonly level: Level; readonly message: string; readonly fields: Record<string, unknown> }
  | { readonly type: "done"; readonly text: string; readonly images: readonly { mediaType: string; data: string }[] }
  | { readonly type: "failed"; readonly code: string; readonly message: string };
