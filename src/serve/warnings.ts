/** Lists the request fields that did not reach the model, separated by commas. */
export const warningsHeader = "venturi-warnings";

/** Proxies reject responses with overlong headers. */
const longest = 1_000;

/** Clients may invent any field name; a header takes visible ASCII only. */
export function warningsText(fields: Iterable<string>): string {
  const text = [...fields].map((field) => field.replace(/[^\x21-\x7e]|,/g, "?")).join(", ");
  return text.length <= longest ? text : `${text.slice(0, longest)}...`;
}
