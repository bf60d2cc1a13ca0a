import { didYouMean } from "../../core/values/suggest.ts";
import { type Problem, pathText } from "../yaml/problem.ts";
import { find, keyPlaceOf, keysOf, type MapNode, type Path, placeOf } from "../yaml/tree.ts";
import { isEnabled } from "./schema.ts";
import { isLoopback, parseListen } from "./server.ts";

/**
 * Checks across keys: names must exist, and an exposed server needs auth. Reads the tree rather than the validated settings, so
 * that these problems are reported together with all others; malformed values are left to the schema.
 */
export function checkReferences(root: MapNode, problems: Problem[]): void {
  for (const name of keysOf(root, ["models"])) {
    checkChain(["models", name, "chain"]);
    checkSplit(name);
    checkModel(["models", name, "economy"]);
    checkModel(["models", name, "shadow", "model"]);
    for (const path of items(root, ["models", name, "shadow", "scorers"])) checkName([...path, "agent"], "agents");
    checkMembers(name);
  }
  for (const name of keysOf(root, ["agents"])) {
    checkModel(["agents", name, "model"]);
    checkModel(["agents", name, "compaction", "model"]);
    for (const path of items(root, ["agents", name, "overrides", "models"])) checkModel(path);
    for (const path of items(root, ["agents", name, "tools"])) checkName(path, "tools");
    for (const path of items(root, ["agents", name, "guards"])) checkName(path, "guards");
    checkName(["agents", name, "memory", "recall", "store"], "memories");
    for (const path of items(root, ["agents", name, "handoffs"])) {
      checkName(path, "agents");
      if (text(root, path) === name) complain(path, "an agent can't hand a run to itself");
    }
  }
  for (const name of keysOf(root, ["memories"])) {
    const path = ["memories", name, "embed"];
    const { provider } = splitModel(text(root, path) ?? "");
    if (provider !== "" && checkProvider(path, provider) && !isOn(root, provider))
      complain(path, `the provider "${provider}" is disabled`);
  }
  const authKeys = items(root, ["server", "auth", "keys"]);
  for (const key of authKeys) {
    for (const path of items(root, [...key, "agents"])) checkName(path, "agents");
  }
  const isLocked = authKeys.length > 0 || find(root, ["server", "auth", "jwt"]) !== undefined;
  if (!isLocked) checkListen();

  function checkChain(path: Path): void {
    const targets = items(root, path).map((target) => {
      const provider = splitModel(text(root, target) ?? "").provider;
      return provider === "" || !checkProvider(target, provider) || isOn(root, provider);
    });
    if (targets.length > 0 && !targets.includes(true)) complain(path, "every provider of this chain is disabled");
  }

  /** A split has only members and weights; all other settings belong to the members. */
  function checkSplit(name: string): void {
    const entry: Path = ["models", name];
    const split: Path = [...entry, "split"];
    const members = keysOf(root, split);
    if (find(root, split) === undefined) {
      const chain = find(root, [...entry, "chain"]);
      if (chain === undefined || (chain.kind === "list" && chain.items.length === 0))
        complain(chain === undefined ? entry : [...entry, "chain"], "name at least one provider/model");
      return;
    }
    for (const key of keysOf(root, entry))
      if (key !== "split") complainOfKey([...entry, key], `a split has no ${key} of its own: give it to its members`);
    if (find(root, split)?.kind === "map" && members.length < 2) complain(split, "a split needs two members");
    for (const member of members) {
      const path = [...split, member];
      const isSplit = find(root, ["models", member, "split"]) !== undefined;
      if (isSplit) complainOfKey(path, `"${member}" is a split itself`);
      else checkReference(path, member);
    }
  }

  /** Settings for a model that is not in the chain have no effect, and a hedge needs a second model. */
  function checkMembers(name: string): void {
    const chain = items(root, ["models", name, "chain"]).map((path) => text(root, path) ?? "");
    for (const member of keysOf(root, ["models", name, "members"])) {
      if (chain.includes(member)) continue;
      complain(["models", name, "members", member], `"${member}" is not in this chain${didYouMean(member, chain)}`);
    }
    const economy: Path = ["models", name, "economy"];
    if (text(root, economy) === name) complain(economy, "a model is no cheaper than itself");
    const hedge: Path = ["models", name, "hedge"];
    if (chain.length === 1 && find(root, hedge) !== undefined)
      complain(hedge, "a hedge needs a second model in the chain");
  }

  function checkModel(path: Path): void {
    const reference = text(root, path);
    const models = keysOf(root, ["models"]);
    if (reference === undefined || models.includes(reference)) return;
    const { provider } = splitModel(reference);
    if (provider === "") {
      const near = didYouMean(reference, models);
      complain(path, `"${written(root, path)}" is neither an entry of models nor provider/model${near}`);
    } else if (checkProvider(path, provider) && !isOn(root, provider)) {
      complain(path, `the provider "${provider}" is disabled`);
    }
  }

  /** The same for a reference in this key. */
  function checkReference(path: Path, reference: string): void {
    const models = keysOf(root, ["models"]);
    if (models.includes(reference)) return;
    const { provider } = splitModel(reference);
    const providers = keysOf(root, ["providers"]);
    if (provider === "")
      complainOfKey(
        path,
        `"${reference}" is neither an entry of models nor provider/model${didYouMean(reference, models)}`,
      );
    else if (!providers.includes(provider))
      complainOfKey(path, `"${provider}" is not among the providers${didYouMean(provider, providers)}`);
    else if (!isOn(root, provider)) complainOfKey(path, `the provider "${provider}" is disabled`);
  }

  function checkProvider(path: Path, provider: string): boolean {
    const providers = keysOf(root, ["providers"]);
    if (providers.includes(provider)) return true;
    complain(path, `"${provider}" is not among the providers${didYouMean(provider, providers)}`);
    return false;
  }

  function checkName(path: Path, section: "tools" | "agents" | "guards" | "memories"): void {
    const name = text(root, path);
    const names = keysOf(root, [section]);
    if (name === undefined || names.includes(name)) return;
    complain(path, `"${written(root, path)}" is not among the ${section}${didYouMean(name, names)}`);
  }

  /** Without authentication, only loopback addresses are allowed. */
  function checkListen(): void {
    const host = parseListen(text(root, ["server", "listen"]) ?? "127.0.0.1:0")?.host;
    if (host === undefined || isLoopback(host)) return;
    complain(
      ["server", "listen"],
      `${host} can be reached from outside; set server.auth.keys or server.auth.jwt, or listen on 127.0.0.1`,
    );
  }

  function complainOfKey(path: Path, message: string): void {
    problems.push({ place: keyPlaceOf(root, path), path: pathText(path), message });
  }

  function complain(path: Path, message: string): void {
    problems.push({ place: placeOf(root, path), path: pathText(path), message });
  }
}

/** `provider/model`; the model's name may contain slashes. */
export function splitModel(reference: string): { provider: string; model: string } {
  const at = Math.max(0, reference.indexOf("/"));
  return { provider: reference.slice(0, at), model: reference.slice(at + 1) };
}

function items(root: MapNode, path: Path): Path[] {
  const node = find(root, path);
  return node?.kind === "list" ? node.items.map((_, index) => [...path, index]) : [];
}

function text(root: MapNode, path: Path): string | undefined {
  const node = find(root, path);
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
}

/** The value as written in the file: the content of a variable or file may be secret. */
function written(root: MapNode, path: Path): string {
  const node = find(root, path);
  if (node?.kind !== "scalar") return "";
  return node.from === undefined ? String(node.value) : node.from.join("");
}

function isOn(root: MapNode, provider: string): boolean {
  const node = find(root, ["providers", provider, "enabled"]);
  return node?.kind !== "scalar" || (node.value !== null && isEnabled(node.value));
}
