import { messageOf } from "../../core/errors/errors.ts";
import { type Problem, pathText } from "../yaml/problem.ts";
import { find, keysOf, type MapNode, type Path, placeOf, plain } from "../yaml/tree.ts";

/** Validates agents' JSON Schemas now rather than at the first run. */
export async function checkSchemas(root: MapNode, problems: Problem[]): Promise<void> {
  const paths = schemaPaths(root);
  if (paths.length === 0) return;
  const { faultOf } = await import("../../agent/schema/json-schema.ts");
  for (const path of paths) {
    const node = find(root, path);
    if (node?.kind !== "map") continue;
    const fault = faultOf(plain(node) as Record<string, unknown>); // A map is an object.
    if (fault === undefined) continue;
    const at = [...path, ...fault.path];
    problems.push({
      place: placeOf(root, at),
      path: pathText(at),
      message: `not a valid JSON Schema: ${fault.message}`,
    });
  }
}

/** Compiles conditions now: an invalid one would otherwise surface at the first call it should have stopped. */
export async function checkConditions(root: MapNode, problems: Problem[]): Promise<void> {
  for (const tool of keysOf(root, ["tools"])) {
    const path = ["tools", tool, "approval", "when"];
    const node = find(root, path);
    if (node?.kind !== "scalar" || typeof node.value !== "string") continue;
    const { compileCondition } = await import("../../agent/tools/condition.ts");
    try {
      compileCondition(node.value);
    } catch (thrown) {
      problems.push({ place: placeOf(root, path), path: pathText(path), message: messageOf(thrown) });
    }
  }
}

function schemaPaths(root: MapNode): Path[] {
  return keysOf(root, ["agents"]).flatMap((agent) => [
    ...keysOf(root, ["agents", agent, "inputs"]).map((name) => ["agents", agent, "inputs", name]),
    ...(find(root, ["agents", agent, "output"]) === undefined ? [] : [["agents", agent, "output"]]),
  ]);
}
