// Mutants that cannot change anything, by form: `...(x === undefined ? {} : { x })` with `false` as its condition adds a field that
// is undefined, which JSON drops. Only where nothing else in the object may set that field.

/** Notes the places of such mutants, as `placeOf` names them. */
export function noteEquivalent(path, places) {
  if (!path.isObjectExpression()) return;
  const { properties } = path.node;
  const others = properties.filter((property) => optionalOf(property) === undefined);
  if (others.some(({ type }) => type === "SpreadElement")) return;
  const names = new Set(others.map(({ key }) => key?.name ?? key?.value));
  for (const property of properties) {
    const optional = optionalOf(property);
    if (optional === undefined || names.has(optional.name)) continue;
    const file = path.hub.file.opts.filename;
    const { start, end } = optional.test.loc; // lines from 1, those of mutants from 0
    places.add(
      placeOf(
        file,
        { start: { ...start, line: start.line - 1 }, end: { ...end, line: end.line - 1 } },
        optional.replacement,
      ),
    );
  }
}

export const placeOf = (file, { start, end }, replacement) =>
  [file, start.line, start.column, end.line, end.column, replacement].join(":");

/** The condition of an optional field, its name, and what the condition may be replaced by without an effect. */
function optionalOf({ type, argument }) {
  if (type !== "SpreadElement" || argument.type !== "ConditionalExpression") return undefined;
  const { test, consequent, alternate } = argument;
  if (test.type !== "BinaryExpression" || !isUndefined(test.right)) return undefined;
  if (test.operator === "===" && isEmpty(consequent)) return field(test, alternate, "false");
  if (test.operator === "!==" && isEmpty(alternate)) return field(test, consequent, "true");
  return undefined;
}

function field(test, object, replacement) {
  if (object.type !== "ObjectExpression" || object.properties.length !== 1) return undefined;
  const [{ type, key, value, computed }] = object.properties;
  if (type !== "ObjectProperty" || computed || textOf(value) !== textOf(test.left)) return undefined;
  return { test, name: key.name ?? key.value, replacement };
}

const isEmpty = ({ type, properties }) => type === "ObjectExpression" && properties.length === 0;
const isUndefined = ({ type, name }) => type === "Identifier" && name === "undefined";

/** A name or a path of names. */
function textOf(node) {
  if (node.type === "Identifier") return node.name;
  if (/MemberExpression$/.test(node.type) && !node.computed) {
    const object = textOf(node.object);
    return object && `${object}.${node.property.name ?? `#${node.property.id?.name}`}`;
  }
  return node.type === "ThisExpression" ? "this" : undefined;
}
