import { Document, isMap, isScalar, isSeq, type Node as YamlNode } from "yaml";
import { placeText } from "../yaml/problem.ts";
import type { Node, ScalarNode } from "../yaml/tree.ts";
import { withDefaults } from "./defaults.ts";
import type { Config } from "./load.ts";
import { isSecretName } from "./secrets.ts";

const mask = "***";

/** The effective configuration as YAML, with a comment on the origin of each value. */
export function showYaml(config: Config): string {
  const tree = withDefaults(config);
  const document = new Document(masked(tree, "", { secret: false }));
  annotate(document.contents, tree);
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

/** The effective configuration as plain values, secrets masked. */
export const showJson = (config: Config): unknown => masked(withDefaults(config), "", { secret: false });

function masked(node: Node, key: string, around: { secret: boolean }): unknown {
  const secret = around.secret || (node.kind !== "list" && isSecretName(key));
  switch (node.kind) {
    case "scalar":
      return maskedScalar(node, { secret });
    case "list":
      if (key === "args") return node.items.map((item) => (item.kind === "scalar" ? maskedArgument(item) : mask));
      return node.items.map((item) => masked(item, key, { secret }));
    case "map":
      return Object.fromEntries(
        [...node.entries].map(([name, entry]) => [
          name,
          masked(entry.node, name, { secret: around.secret || holdsSecrets(key) }),
        ]),
      );
  }
}

/** Every value below these keys counts as a secret: any header or variable might be one. */
const holdsSecrets = (key: string): boolean => key === "headers" || key === "env";

function maskedScalar(node: ScalarNode, { secret }: { secret: boolean }): unknown {
  if (node.from !== undefined && node.value !== "") return mask;
  if (typeof node.value !== "string" || node.value === "") return node.value;
  return secret ? mask : maskedAddress(node.value);
}

/** A URL may contain a password or token, before the host or in the query. */
function maskedAddress(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  return text
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)(?:([^:/@\s]+):)?[^/\s]*@/i, (_all, scheme: string, user?: string) =>
      user === undefined ? `${scheme}${mask}@` : `${scheme}${user}:${mask}@`,
    )
    .replace(/([?&][^=&#\s]*)=[^&#\s]*/g, `$1=${mask}`);
}

/** Only option names of a command line are shown: any other argument might be a secret. */
function maskedArgument(node: ScalarNode): unknown {
  if (typeof node.value !== "string" || node.from !== undefined) return mask;
  const [, name, value] = /^(--?[A-Za-z][\w-]*)(=.*)?$/s.exec(node.value) ?? [];
  // `-phunter2` combines an option and its value.
  if (name === undefined || (!name.startsWith("--") && name.length > 2)) return mask;
  return value === undefined ? name : `${name}=${mask}`;
}

function annotate(shown: YamlNode | null | unknown, node: Node): void {
  if (isScalar(shown) && node.kind === "scalar") shown.comment = ` ${originOf(node)}`;
  if (isSeq(shown) && node.kind === "list") {
    for (const [index, item] of node.items.entries()) annotate(shown.items[index], item);
  }
  if (isMap(shown) && node.kind === "map") {
    for (const pair of shown.items) {
      const entry = node.entries.get(String(plainKey(pair.key)));
      if (entry !== undefined) annotate(pair.value, entry.node);
    }
  }
}

const plainKey = (key: unknown): unknown => (isScalar(key) ? key.value : key);

const originOf = (node: ScalarNode): string =>
  node.from === undefined ? placeText(node.place) : `${placeText(node.place)} ${node.from.join(" ")}`;
