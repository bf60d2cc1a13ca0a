import type { AnySchema, In, Out } from "./schema.ts";

/**
 * Context that runs supply for their tools: `Stored` is JSON kept with the run, `Live` is derived from it on whichever machine executes the
 * run.
 */
// biome-ignore lint/suspicious/noExplicitAny: the type of any context
export interface Context<Stored = any, Live = any> {
  readonly kind: "context";
  readonly "~context": { readonly stored: AnySchema; readonly provide: AnyProvide | undefined };
  /** For types only. */
  readonly "~types"?: { readonly stored: Stored; readonly live: Live };
}

type About = { readonly run: string; readonly agent: string; readonly signal: AbortSignal };
// biome-ignore lint/suspicious/noExplicitAny: takes what its own schema gives
type AnyProvide = (stored: any, about: About) => unknown;

export interface ContextOptions<S extends AnySchema, Live> {
  /** Ids, not secrets or connections: it is stored in the journal. Never shown to the model. */
  readonly stored: S;
  /** Called once per attempt at a run. A result with `Symbol.asyncDispose` or `Symbol.dispose` is disposed with the attempt. */
  readonly provide?: (stored: Out<S>, about: About) => Live | Promise<Live>;
}

export function context<S extends AnySchema, Live = Out<S>>({
  stored,
  provide,
}: ContextOptions<S, Live>): Context<In<S>, Live> {
  return { kind: "context", "~context": { stored, provide } };
}

/** What tools get: `call(input, { context }: ToolContext<ContextOf<typeof shop>>)`. */
export type ContextOf<C> = C extends Context<infer _Stored, infer Live> ? Live : never;

export const isContext = (value: unknown): value is Context =>
  typeof value === "object" && value !== null && "~context" in value;
