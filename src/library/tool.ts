import { VenturiError } from "../core/errors/errors.ts";
import type { Effect, CallContext as UntypedCall, ToolContext as UntypedContext } from "../core/ports/tool.ts";
import { type CallSite, callSite } from "./call-site.ts";
import type { AnySchema, In, Out } from "./schema.ts";

/** What a tool knows about its call. `context`: the result of the agent's `provide`, or the run's stored `context`. */
export interface ToolContext<Context = unknown> extends Omit<UntypedContext, "context"> {
  readonly context: Context;
}
export interface CallContext<Context = unknown> extends Omit<UntypedCall, "context"> {
  readonly context: Context;
}

/** A tool defined in code. `Input` is what the model writes, before the schema's defaults and transforms. */
// biome-ignore lint/suspicious/noExplicitAny: the type of any tool, whatever it takes
export interface Tool<Name extends string = string, Input = any, Output = unknown, Context = any> {
  readonly kind: "tool";
  readonly name: Name;
  readonly description: string;
  /** Validates the input and calls the tool, for tests. Progress goes to the context's `progress`. */
  readonly call: (input: Input, context: ToolContext<Context>) => Promise<Output>;
}

export interface ToolOptions<Name extends string, S extends AnySchema, R, Context> {
  /** The name used by models and in the journal: letters, digits, _ and -. */
  readonly name: Name;
  readonly description: string;
  readonly input: S;
  /** `effectful` (the default) waits for the model to finish, and is not repeated after a crash without asking. */
  readonly effect?: Effect;
  /** Runs alone: no other tool of the run at the same time. */
  readonly exclusive?: boolean;
  /** Ask a person first. A function is called once per call; a returned text is the reason shown. */
  readonly approval?:
    | "always"
    | "once"
    | "never"
    | { readonly when?: string; readonly show?: readonly string[] }
    | ((
        input: Out<NoInfer<S>>,
        context: CallContext<NoInfer<Context>>,
      ) => boolean | string | undefined | Promise<boolean | string | undefined>);
  /** ms, or "30s". */
  readonly timeout?: number | string;
  /** Maximum characters of output that the model sees. */
  readonly maxOutput?: number | string;
  /** An async generator yields progress and returns the output. Exceptions are reported to the model. */
  readonly call: (input: Out<S>, context: ToolContext<Context>) => R;
}

/** `C`, hidden from inference: a tool written inside `agent({ tools: [ … ] })` must not infer its context from there. */
type Needed<C> = [C] extends [infer Same] ? Same : never;

type Returned<R> = R extends AsyncIterable<string, infer Last> ? Last : Awaited<R>;

/** Defines a function that models may call. */
export function tool<const Name extends string, S extends AnySchema, R, Context = unknown>(
  options: ToolOptions<Name, S, R, Context>,
): Tool<Name, In<S>, Returned<R>, Needed<Context>> {
  const { name, description, input } = options;
  checkName(name);
  if (typeof description !== "string") throw invalid(`${name}: a description is needed; models choose tools by it`);
  if (typeof options.call !== "function") throw invalid(`${name}: call has to be a function`);
  if (typeof input !== "object" && typeof input !== "function") {
    throw invalid(`${name}: input has to be a schema, such as z.object({}) for no arguments`);
  }
  const call = async (given: unknown, context: ToolContext<Context>): Promise<unknown> => {
    const checked = await input["~standard"].validate(given);
    if (checked.issues !== undefined) {
      const message = checked.issues.map((issue) => `${(issue.path ?? []).map(keyOf).join(".")}: ${issue.message}`);
      throw new VenturiError("tool.check", "tool_invalid_arguments", `${name}: ${message.join("; ")}`);
    }
    return await outputOf(options.call(checked.value as Out<S>, context), context); // The schema's own output.
  };
  const made: CodeTool = {
    kind: "tool",
    name,
    description,
    call: call as CodeTool["call"],
    "~tool": { options, place: callSite(tool) },
  };
  return made as unknown as Tool<Name, In<S>, Returned<R>, Needed<Context>>; // By the signature above.
}

// biome-ignore lint/suspicious/noExplicitAny: options of any tool; the loop validates the arguments before `call`
type AnyOptions = ToolOptions<string, AnySchema, any, any>;

/** A tool including what the runtime needs. */
export interface CodeTool extends Tool {
  readonly "~tool": { readonly options: AnyOptions; readonly place: CallSite | undefined };
}

export const isCodeTool = (value: unknown): value is CodeTool =>
  typeof value === "object" && value !== null && "~tool" in value;

function checkName(name: string): void {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return;
  throw invalid(`"${name}" is no tool name; use letters, digits, _ and -, at most 64`);
}

const invalid = (message: string): VenturiError => new VenturiError("tool.define", "config_invalid", message);

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === "object" ? segment.key : segment);

/** Yielded strings are progress. The output is the return value or, without one, the last string. */
async function outputOf(returned: unknown, context: ToolContext<unknown>): Promise<unknown> {
  if (typeof returned !== "object" || returned === null || !(Symbol.asyncIterator in returned)) return await returned;
  const iterator = (returned as AsyncIterable<string>)[Symbol.asyncIterator]();
  let last: unknown;
  for (;;) {
    const step = await iterator.next();
    if (step.done) return step.value ?? last;
    last = step.value;
    context.progress(String(step.value));
  }
}
