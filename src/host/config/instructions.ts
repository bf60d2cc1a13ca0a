import { placeholders } from "../../agent/run/inputs.ts";
import { didYouMean } from "../../core/values/suggest.ts";
import { type Problem, pathText } from "../yaml/problem.ts";
import { find, keysOf, type MapNode, placeOf } from "../yaml/tree.ts";

/** `{{name}}` in instructions must be a declared input; otherwise the model would see the braces. */
export function checkInstructions(root: MapNode, problems: Problem[]): void {
  for (const agent of keysOf(root, ["agents"])) {
    const path = ["agents", agent, "instructions"];
    const node = find(root, path);
    if (node?.kind !== "scalar" || typeof node.value !== "string") continue;
    const inputs = keysOf(root, ["agents", agent, "inputs"]);
    for (const name of new Set(placeholders(node.value))) {
      // Instructions of an agent without inputs may contain literal braces.
      if (inputs.length === 0 || inputs.includes(name)) continue;
      const message = `{{${name}}} is not one of the agent's inputs${didYouMean(name, inputs)}; they are: ${inputs.join(", ")}`;
      problems.push({ place: placeOf(root, path), path: pathText(path), message });
    }
  }
}
