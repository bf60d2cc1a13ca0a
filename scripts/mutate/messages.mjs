// The wording of a message is not behaviour: only what people read is left alone. Operations, codes, event names, keys and values
// are mutated.

/** Why the node, with all that is in it, is not mutated, or undefined. */
export function isMessage(path) {
  if (isArgument(path, { position: 2, of: /Error$/ })) return "the message of an error";
  if (isArgument(path, { position: 0, of: /^(Error|TypeError|RangeError)$/ })) return "the message of an error";
  if (textOf(path.node) !== undefined && isArgument(path, { position: 0, of: /^(debug|info|warn|error)$/ }))
    return "the message of a log line";
  if (isSentence(path.node)) return "a sentence: three words or more";
  if (path.isConditionalExpression() && isWording(path.node)) return "which of two sentences is said";
  if (textOf(path.node) !== undefined && isInLogLine(path)) return "wording of a log line's facts";
  return undefined;
}

/** Both outcomes are texts, and one is a sentence. */
function isWording({ consequent, alternate }) {
  const both = [consequent, alternate];
  return both.every((node) => textOf(node) !== undefined) && both.some(isSentence);
}

const isSentence = (node) => /\w+\W* \w+\W* \w+/.test(textOf(node) ?? "");

function textOf(node) {
  if (node.type === "StringLiteral") return node.value;
  if (node.type === "TemplateLiteral") return node.quasis.map(({ value }) => value.raw).join("x");
  return undefined;
}

function isArgument(path, { position, of }) {
  if (path.listKey !== "arguments" || path.key !== position) return false;
  const name = nameOfCallee(path.parentPath);
  return name !== undefined && of.test(name) && mayBeText(path.node);
}

/** A callback or an object in the place of a message is none. */
const mayBeText = ({ type }) => !/Function|ObjectExpression|ArrayExpression|SpreadElement/.test(type);

/** `log.warn("…", { reason: parts.join(": ") })` */
function isInLogLine(path) {
  const call = path.findParent((parent) => parent.isFunction() || isLogCall(parent));
  return call?.isCallExpression() === true;
}

const isLogCall = (path) =>
  path.isCallExpression() &&
  path.node.callee.type === "MemberExpression" &&
  /^(debug|info|warn|error)$/.test(nameOfCallee(path)) &&
  /log/i.test(lastName(path.node.callee.object));

function nameOfCallee(call) {
  if (!call.isNewExpression() && !call.isCallExpression()) return undefined;
  return lastName(call.node.callee);
}

const lastName = (node) => String(node.property?.name ?? node.property?.id?.name ?? node.name ?? "");
