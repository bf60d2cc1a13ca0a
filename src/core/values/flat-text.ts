/**
 * Flattens a text that grows by small pieces; returns the length at which to call it again. V8 keeps every piece and a node for it until
 * the text is read: 56 bytes for a five-byte token. Intervals grow with the length, because each flattening copies the text.
 */
export function flatten(text: string): number {
  reads.test(text); // Unlike charCodeAt, never optimised away.
  return text.length + 256 + (text.length >> 3);
}

const reads = /^/;
