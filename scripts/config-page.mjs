// docs/config.md, from the JSON Schema of the configuration.
const sections = [
  ["providers", "Providers"],
  ["models", "Models"],
  ["tools", "Tools"],
  ["guards", "Guards"],
  ["agents", "Agents"],
  ["journal", "Journal"],
  ["channels", "Channels"],
  ["server", "Server"],
  ["telemetry", "Telemetry"],
  ["limits", "Limits"],
];

export function configPage(schema) {
  const top = Object.fromEntries(
    Object.entries(schema.properties).map(([key, each]) => [
      key,
      { ...each, type: each.type ?? "object", properties: undefined, anyOf: undefined },
    ]),
  );
  const pages = sections.map(([key, title]) => section(key, title, schema.properties[key]));
  return [intro, "## Keys\n", table(Object.entries(top), ""), ...pages].join("\n");
}

function section(key, title, schema) {
  const lines = [`## ${title}\n`, `${schema.description}\n`];
  const plugins = pluginEntries(schema);
  if (plugins.length > 0) {
    const common = commonKeys(plugins);
    const where = key === "journal" ? key : `${key}.NAME`;
    lines.push(`Every entry:\n`, table(rows({ properties: common }), where));
    for (const plugin of plugins) lines.push(pluginPart(plugin, common, where));
    return lines.join("\n");
  }
  const entry = objectIn(schema);
  const isNamed = entry.properties === undefined && typeof schema.additionalProperties === "object";
  lines.push(table(rows(isNamed ? schema.additionalProperties : entry), isNamed ? `${key}.NAME` : key));
  return lines.join("\n");
}

function pluginPart(plugin, common, where) {
  const own = Object.fromEntries(
    Object.entries(plugin.properties).filter(([key]) => !(key in common) && key !== "type"),
  );
  const required = new Set(plugin.required ?? []);
  const { const: name, description } = plugin.properties.type;
  const head = `### \`type: ${name}\`\n\n${description}\n`;
  return Object.keys(own).length === 0
    ? head
    : `${head}\n${table(rows({ properties: own, required: [...required] }), where)}`;
}

/** The forms of an entry, one for each plugin. */
function pluginEntries(schema) {
  const forms = schema.anyOf ?? schema.additionalProperties?.anyOf ?? [];
  return forms.flatMap((form) => form.anyOf ?? [form]).filter((form) => form.properties?.type?.const !== undefined);
}

const commonNames = ["type", "enabled", "approval", "timeout", "maxOutput", "effect", "keepWire", "retention"];

function commonKeys([first]) {
  const common = commonNames.filter((name) => name in first.properties).map((name) => [name, first.properties[name]]);
  const keys = Object.fromEntries(common);
  return { ...keys, type: { type: "string", description: "Name of the plugin." } };
}

const objectIn = (schema) => [schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties) ?? schema;

/** Every key with those below it, as dotted paths. */
function rows(schema, prefix = "", depth = 0) {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([key, each]) => {
    const inner = objectIn(each);
    const items = each.items === undefined ? undefined : objectIn(each.items);
    const row = [`${prefix}${key}`, { ...each, isRequired: required.has(key) }];
    if (inner.properties !== undefined) return [row, ...rows(inner, `${prefix}${key}.`, depth)];
    // What stands in lists of lists is the business of the plugin's own page.
    if (items?.properties !== undefined && depth === 0) return [row, ...rows(items, `${prefix}${key}[].`, depth + 1)];
    return [row];
  });
}

function table(entries, where) {
  const head = `| ${where === "" ? "key" : `\`${where}.…\``} | value | default | meaning |\n|---|---|---|---|`;
  const lines = entries.map(([key, each]) => {
    const fallback = each.default === undefined ? (each.isRequired ? "required" : "") : code(each.default);
    return `| \`${key}\` | ${cell(typeText(each))} | ${cell(fallback)} | ${cell(each.description ?? "")} |`;
  });
  return `${[head, ...lines].join("\n")}\n`;
}

const code = (value) => {
  const text = JSON.stringify(value);
  return text === '""' || text === "{}" || text === "[]" ? "" : `\`${typeof value === "string" ? value : text}\``;
};
const cell = (text) => String(text).replaceAll("|", "\\|").replaceAll("\n", " ");

function typeText(schema) {
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(" | ");
  const forms = (schema.anyOf ?? schema.oneOf ?? []).filter((form) => form.$ref === undefined);
  const units = unitOf(forms);
  if (units !== undefined) return units;
  if (forms.length > 0) return [...new Set(forms.map(typeText))].join(" | ");
  if (schema.type === "array") return schema.items === undefined ? "list" : `list of ${typeText(schema.items)}`;
  return [schema.type]
    .flat()
    .map((type) => words[type] ?? "any")
    .join(" | ");
}

const words = { string: "text", object: "map", integer: "whole number", number: "number", boolean: "true | false" };

function unitOf(forms) {
  const pattern = forms
    .flatMap((form) => [form, ...(form.anyOf ?? [])])
    .find((form) => form.pattern !== undefined)?.pattern;
  if (pattern?.includes("ms|s|m")) return "duration";
  return pattern?.includes("KiB") ? "size" : undefined;
}

const intro = `<!-- Generated from the schema by \`npm run generate\`; a test fails when it is stale. -->
# Configuration

\`config/venturi.yaml\`, or what \`--config\` or \`VENTURI_CONFIG\` names. \`venturi validate\` checks it, \`venturi config show\`
prints every value that counts with the place it came from, and \`config/venturi.schema.json\` lets editors help:

\`\`\`yaml
# yaml-language-server: $schema=./venturi.schema.json
\`\`\`

- **Mistakes** are reported all at once, one line each, and end with exit status 78:
  \`config/venturi.yaml:7:5 providers.claude.timeuot: unknown key (did you mean "timeout"?)\`.
- **References** \`\${env:NAME}\`, \`\${env:NAME:-default}\` and \`\${file:path}\` are replaced in values after parsing, so a value can't
  become YAML. A variable that is not set and has no default is a mistake. Where a number or a boolean is expected, text that
  spells one is taken for it. \`config show\` never prints what a reference brought.
- **Durations** are written \`250ms\`, \`30s\`, \`5m\`, \`2h\`, \`7d\`; **sizes** \`512B\`, \`64KiB\`, \`4MiB\`, \`1GB\`.
- **Paths** are relative to the file they stand in; paths in plugins' options to the main file.
- **Includes** (\`include: [agents/*.yaml]\`) are merged; a key that two files set is a mistake that names both places.
- **Overrides**: \`--set limits.drain=5s --set 'server.hosts=[a.example]'\`; a dot within a key is written \`\\.\`.
- **Optional entries**: one whose \`enabled\` is false or empty is left out, and so are its places in the chains of \`models\`.
  \`enabled: "\${env:OPENAI_API_KEY:-}"\` means "when the key is set".
- **Reload**: \`SIGHUP\` or \`venturi reload\` reads the file again. Runs under way finish on the old configuration; a file with a
  mistake changes nothing. Changes of \`journal\`, \`server\`, \`channels\`, \`telemetry\`, \`limits\` and \`dataFolder\` need a restart,
  and the log says so.
- A \`listen\` that is not a loopback address without \`server.auth.keys\` is refused.
`;
