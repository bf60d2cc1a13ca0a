// The wording of a message is not behaviour: only strings that people read are left alone. Operations, codes, event names, keys and
// values are mutated.

/** Why the node is not mutated, or undefined. */
export function isMessage(path) {
  const text = textOf(path);
  if (text === undefined) return undefined;
  if (/\w+\W* \w+\W* \w+/.test(text)) return "a sentence: three words or more";
  if (isArgument(path, { position: 2, of: /Error$/ })) return "the message of an error";
  if (isArgument(path, { position: 0, of: /^(Error|TypeError|RangeError|debug|info|warn|error)$/ }))
    return "the message of a log line";
  return undefined;
}

function textOf(path) {
  if (path.isStringLiteral()) return path.node.value;
  if (path.isTemplateLiteral()) return path.node.quasis.map(({ value }) => value.raw).join("x");
  return undefined;
}

function isArgument(path, { position, of }) {
  const call = path.parentPath;
  if (path.listKey !== "arguments" || path.key !== position || !(call.isNewExpression() || call.isCallExpression()))
    return false;
  const { callee } = call.node;
  return of.test(callee.type === "MemberExpression" ? callee.property.name : callee.name);
}
