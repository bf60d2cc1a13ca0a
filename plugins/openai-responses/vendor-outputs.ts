import { asList, asRecord, asText, parseJson } from "venturi/plugin/provider";

type Json = Readonly<Record<string, unknown>>;

export interface Result {
  readonly ok: boolean;
  readonly output: unknown;
}

/** The item that answers a call, in the call's own format. */
export function outputItem(called: Json, call: string, { ok, output }: Result): Json {
  const type = asText(called.type) ?? "function_call";
  const text = typeof output === "string" ? output : JSON.stringify(output);
  switch (type) {
    case "shell_call": {
      const longest = asRecord(called.action).max_output_length;
      return {
        type: "shell_call_output",
        call_id: call,
        ...(typeof longest === "number" && { max_output_length: longest }),
        output: commandsIn({ text, ok }),
      };
    }
    case "apply_patch_call":
      return { type: "apply_patch_call_output", call_id: call, status: ok ? "completed" : "failed", output: text };
    case "local_shell_call":
      return {
        type: "local_shell_call_output",
        id: call,
        output: localOutput({ text, ok }),
        status: ok ? "completed" : "incomplete",
      };
    case "custom_tool_call":
      return { type: "custom_tool_call_output", call_id: call, output };
    default:
      return { type: "function_call_output", call_id: call, output };
  }
}

interface ToolOutput {
  readonly text: string;
  readonly ok: boolean;
}

/** Output per command, if the tool returned `{ exit, stdout, stderr }`, or several of them as `results`. */
function commandsIn({ text, ok }: ToolOutput): Json[] {
  const parsed = asRecord(parseJson(text));
  const results = asList(parsed.results ?? [parsed]).map(asRecord);
  if (ok && results.length > 0 && results.every(isCommand)) return results.map(commandOutput);
  const outcome = /^tool_timeout\b/.test(text) && !ok ? { type: "timeout" } : { type: "exit", exit_code: ok ? 0 : 1 };
  return [{ stdout: ok ? text : "", stderr: ok ? "" : text, outcome }];
}

const isCommand = (value: Json): boolean =>
  typeof value.stdout === "string" && typeof value.stderr === "string" && "exit" in value;

/** A command killed by a signal has no exit status; shells report 128 plus the signal. */
const commandOutput = ({ stdout, stderr, exit, timedOut }: Json): Json => ({
  stdout,
  stderr,
  outcome: timedOut === true ? { type: "timeout" } : { type: "exit", exit_code: typeof exit === "number" ? exit : 128 },
});

/** "A JSON string of the output of the local shell tool call." */
function localOutput(result: ToolOutput): string {
  const [{ stdout, stderr, outcome } = {}] = commandsIn(result);
  const { exit_code = null, type } = asRecord(outcome);
  return JSON.stringify({ stdout, stderr, exit_code, ...(type === "timeout" && { timed_out: true }) });
}
