import { readFile } from "node:fs/promises";
import { messageOf, VenturiError } from "venturi/plugin";
import { Scenario, type ScenarioInput } from "./scenario.ts";

const op = "simulator.scenario";

/** Reads scenarios from YAML files; reports all problems at once with file, line and column. */
export async function readScenarios(files: readonly string[]): Promise<Scenario[]> {
  const found = await Promise.all(files.map(readScenarioFile));
  const problems = found.flatMap((file) => file.problems);
  if (problems.length > 0) throw new VenturiError(op, "config_invalid", problems.join("\n"));
  return found.flatMap((file) => file.scenarios);
}

async function readScenarioFile(file: string): Promise<{ scenarios: Scenario[]; problems: string[] }> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(await read(file), { lineCounter: lines });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const broken = document.errors.map((error) => `${at(error.pos[0])} ${error.message.split("\n")[0]}`);
  if (broken.length > 0) return { scenarios: [], problems: broken };
  const scenarios: Scenario[] = [];
  const problems: string[] = [];
  for (const { value, path } of entries(document.toJS())) {
    const result = Scenario.safeParse(value);
    if (result.success) scenarios.push(result.data);
    for (const issue of result.error?.issues ?? []) {
      const full = [...path, ...issue.path];
      problems.push(`${at(nearest(document, full))} ${full.map(String).join(".") || "the file"}: ${issue.message}`);
    }
  }
  return { scenarios, problems };
}

/** Scenarios given as objects. */
export function parseScenarios(inputs: readonly ScenarioInput[]): Scenario[] {
  return inputs.map((input) => {
    const result = Scenario.safeParse(input);
    if (result.success) return result.data;
    const problems = result.error.issues.map((issue) => `${issue.path.map(String).join(".")}: ${issue.message}`);
    throw new VenturiError(op, "config_invalid", `scenario "${input.name}": ${problems.join("; ")}`);
  });
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    throw new VenturiError(op, "config_invalid", `the scenario file can't be read: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}

/** A document is one scenario, or a list under `scenarios`. */
function entries(content: unknown): { value: unknown; path: PropertyKey[] }[] {
  const found = (content as { scenarios?: unknown } | null)?.scenarios; // YAML enters here
  if (!Array.isArray(found)) return [{ value: content, path: [] }];
  return found.map((value, index) => ({ value, path: ["scenarios", index] }));
}

interface Located {
  getIn(path: Iterable<unknown>, keepScalar: true): unknown;
}

/** Location of the value at the path, or of its nearest existing ancestor. */
function nearest(document: Located, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? undefined : document.getIn(path.slice(0, length), true);
    const range = (node as { range?: [number, number, number] } | undefined)?.range; // a YAML node, by keepScalar
    if (range !== undefined) return range[0];
  }
  return 0;
}
