/** Names the fields of a request that the model was not told, separated by commas. */
export const warningsHeader = "venturi-warnings";

/** Proxies refuse responses whose headers are too long. */
const longest = 1_000;

/** A client invents field names as it likes; a header takes visible ASCII alone. */
export function warningsText(fields: Iterable<string>): string {
  const text = [...fields].map((field) => field.replace(/[^\x21-\x7e]|,/g, "?")).join(", ");
  return text.length <= longest ? text : `${text.slice(0, longest)}...`;
}
