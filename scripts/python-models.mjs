// Pydantic models of the service's schemas. Lenient where a newer service may say more: unknown fields are kept, unknown events
// become UnknownEvent, and an enumeration is also a str. What is sent is checked strictly by the service.

const head = `# Generated from the service's OpenAPI document by \`npm run generate\`. Do not edit.
from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag


class Model(BaseModel):
    """Keeps fields that a newer service has added."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=())
`;

export function pythonModels(schemas) {
  const texts = [];
  const done = new Set();
  const write = (name) => {
    if (done.has(name)) return;
    done.add(name);
    for (const [, next] of JSON.stringify(schemas[name]).matchAll(/#\/components\/schemas\/(\w+)/g)) write(next);
    texts.push(...definition(name, schemas[name], schemas));
  };
  for (const name of Object.keys(schemas).sort()) write(name);
  return `${head}\n\n${texts.join("\n\n")}`;
}

/** The classes that a schema needs, its own last. */
function definition(name, schema, schemas) {
  if (schema.properties !== undefined) return classes(name, schema);
  const variants = (schema.oneOf ?? []).map(({ $ref }) => $ref?.split("/").at(-1));
  if (variants.length > 0 && variants.every((variant) => typeTag(schemas[variant]) !== undefined)) {
    return [union(name, variants, schemas)];
  }
  const inner = [];
  const type = typeOf(schema, `${name}Item`, inner);
  return [...inner, `${name} = ${type}\n`];
}

const typeTag = (schema) => schema?.properties?.type?.const;

/** A union by its \`type\`, with a member for types that this version does not know. */
function union(name, variants, schemas) {
  const unknown = `Unknown${name.replace(/^Run/, "")}`;
  const common = commonFields(variants.map((variant) => schemas[variant]));
  const fields = common.map(([key, schema]) => `    ${field(key, typeOf(schema, "", []), true)}`).join("\n");
  const members = variants.map((variant) => `        Annotated[${variant}, Tag("${typeTag(schemas[variant])}")],`);
  return `class ${unknown}(Model):
    """Of a type that this version does not know; its fields are in \`model_extra\`."""

    type: str
${fields}${fields === "" ? "" : "\n"}

_${name}_types = frozenset({${variants.map((variant) => `"${typeTag(schemas[variant])}"`).join(", ")}})


def _${name}_tag(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in _${name}_types else "unknown"


${name} = Annotated[
    Union[
${members.join("\n")}
        Annotated[${unknown}, Tag("unknown")],
    ],
    Discriminator(_${name}_tag),
]
`;
}

function commonFields([first, ...rest]) {
  return Object.entries(first.properties).filter(
    ([key]) => key !== "type" && [first, ...rest].every((schema) => schema.required?.includes(key)),
  );
}

function classes(name, { properties, required = [], description }) {
  const inner = [];
  const lines = Object.entries(properties).map(([key, schema]) => {
    const type = typeOf(schema, name + pascal(key), inner);
    return `    ${field(key, type, required.includes(key))}`;
  });
  const comment = description === undefined ? "" : `    """${description}"""\n\n`;
  return [...inner, `class ${name}(Model):\n${comment}${lines.join("\n") || "    pass"}\n`];
}

function field(key, type, isRequired) {
  const name = identifier(key);
  const [, constant] = /^Literal\["([^"]*)"\]$/.exec(type) ?? [];
  if (constant !== undefined && isRequired && name === key) return `${name}: ${type} = "${constant}"`;
  const whole = isRequired || type === "Any" ? type : `${type.replace(/ \| None$/, "")} | None`;
  const given = isRequired ? [] : ["default=None"];
  if (name !== key) given.push(`alias="${key}"`);
  if (given.length === 0) return `${name}: ${whole}`;
  return given.length === 1 && !isRequired
    ? `${name}: ${whole} = None`
    : `${name}: ${whole} = Field(${given.join(", ")})`;
}

function typeOf(schema, name, inner) {
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1);
  if (schema.const !== undefined) return `Literal[${python(schema.const)}]`;
  if (schema.enum !== undefined) return `Literal[${schema.enum.map(python).join(", ")}] | str`;
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) {
    const objects = options.filter(({ properties }) => properties !== undefined);
    // Each object of a union has its own class, named after its first property.
    const nameOf = ({ properties }) =>
      objects.length > 1 && properties !== undefined ? name + pascal(Object.keys(properties)[0] ?? "") : name;
    return [...new Set(options.map((option) => typeOf(option, nameOf(option), inner)))].join(" | ");
  }
  if (schema.allOf?.length === 1) return typeOf(schema.allOf[0], name, inner);
  switch (schema.type) {
    case "string":
      return "str";
    case "boolean":
      return "bool";
    case "integer":
      return "int";
    case "number":
      return "float";
    case "null":
      return "None";
    case "array":
      return `list[${typeOf(schema.items ?? {}, name, inner)}]`;
    case "object":
      if (schema.properties === undefined)
        return `dict[str, ${typeOf(schema.additionalProperties || {}, name, inner)}]`;
      inner.push(...classes(name, schema));
      return name;
    default:
      return "Any";
  }
}

const python = (value) => (value === true ? "True" : value === false ? "False" : JSON.stringify(value));
// Keywords of Python, and attributes of pydantic's BaseModel that a field may not shadow.
const taken = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
   lambda nonlocal not or pass raise return try while with yield
   construct copy dict from_orm json parse_file parse_obj parse_raw schema schema_json update_forward_refs validate`.split(
    /\s+/,
  ),
);

/** The field's name in Python: `for` is `for_`, as PEP 8 has it. */
function identifier(key) {
  const name = snake(key)
    .replace(/\W/g, "_")
    .replace(/^(?=\d)/, "n")
    .replace(/^_+/, "");
  return taken.has(name) ? `${name}_` : name;
}

const snake = (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const pascal = (key) => key.charAt(0).toUpperCase() + key.slice(1);
