import { VenturiError } from "../../core/errors/errors.ts";
import type { InputQuestion } from "../../core/ports/tool.ts";
import { readSchema } from "../schema/json-schema.ts";

type Wanted = Pick<InputQuestion, "schema" | "choices" | "url" | "fallback">;

/** Why an answer is invalid: it must be one of the choices and match the schema; without a schema it must be text. */
export function misfit({ schema, choices, url }: Omit<Wanted, "fallback">, answer: unknown): string | undefined {
  if (answer === undefined) return url === undefined ? ": is missing" : undefined;
  if (choices !== undefined && !choices.includes(answer as string)) return `: must be one of: ${choices.join(", ")}`;
  if (schema === undefined) return typeof answer === "string" ? undefined : ": must be a text";
  const [problem] = readSchema(schema).problems(answer);
  return problem && `${problem.path && `.${problem.path}`}: ${problem.message}`;
}

/** Refuses a question that no answer could satisfy before anyone is asked; it would wait forever. */
export function mustBeAnswerable(question: Wanted): void {
  const { schema, choices, fallback } = question;
  if (schema !== undefined) readSchema(schema);
  const wrong = (message: string) => new VenturiError("tool.ask", "invalid_input", message);
  if (choices?.length === 0) throw wrong("choices: there are none");
  const problem = fallback === undefined ? undefined : misfit(question, fallback);
  if (problem !== undefined) throw wrong(`fallback${problem}`);
}
