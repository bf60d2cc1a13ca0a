import type { IncomingHttpHeaders } from "node:http";
import type { Native, NativeRequest } from "venturi/plugin";

const forwarded = ["openai-beta", "openai-organization", "openai-project"];

/** Adds the client's headers of this API for a provider of the same wire, whose own settings take precedence. */
export function withHeaders<R extends { readonly native?: NativeRequest }>(
  asked: R,
  wire: Native["wire"],
  given: IncomingHttpHeaders,
): R {
  const said = forwarded.flatMap((name) => (typeof given[name] === "string" ? [[name, given[name]]] : []));
  if (said.length === 0) return asked;
  return { ...asked, native: { wire, fields: {}, ...asked.native, headers: Object.fromEntries(said) } };
}
