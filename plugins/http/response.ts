import { RichOutput, VenturiError } from "venturi/plugin";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const excerpt = 1_000;

/** The response for the model: status and body, parsed if it is JSON. Throws for a status of 400 or more. */
export function toOutput(answer: Answer, most: number, redact: (text: string) => string): unknown {
  const [type = ""] = (answer.headers["content-type"] ?? "").split(";", 1);
  const cut = answer.body.length > most;
  const body = answer.body.subarray(0, most);
  if (answer.status >= 400) throw refused(answer, redact(body.toString("utf8")).slice(0, excerpt));
  if (type.startsWith("image/") && !cut && type !== "image/svg+xml") {
    return new RichOutput(`status ${answer.status}, ${type}, ${body.length} bytes`, [
      { mediaType: type, data: body.toString("base64") },
    ]);
  }
  if (body.includes(0)) return { status: answer.status, body: `[${type || "data"}, ${body.length} bytes]` };
  const text = redact(body.toString("utf8"));
  if (cut) return { status: answer.status, body: text, truncated: `cut after ${most} bytes` };
  return { status: answer.status, body: parsed(text, type) };
}

function parsed(text: string, type: string): unknown {
  if (!/[/+]json$/.test(type)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // Labelled as JSON but invalid: show the text.
  }
}

function refused(answer: Answer, body: string): VenturiError {
  const retryAfter = answer.headers["retry-after"];
  const wait = retryAfter === undefined ? "" : ` (retry after ${retryAfter})`;
  return new VenturiError("tool.call", "tool_failed", `status ${answer.status}${wait}: ${body || "no body"}`, {
    details: { status: answer.status },
  });
}
