/**
 * For a text that grows by small pieces; returns the length at which to call it again. V8 keeps every piece and a node for it
 * until the text is read: 56 bytes for a token of five. A long text waits longer, because it is copied each time.
 */
export function flatten(text: string): number {
  reads.test(text); // unlike charCodeAt, never optimised away
  return text.length + 256 + (text.length >> 3);
}

const reads = /^/;
