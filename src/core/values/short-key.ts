import { createHash } from "node:crypto";

/** A key or a session's name of at most 256 characters. A longer one becomes its hash: cut, two of them could become one. */
export const shortKey = (key: string): string =>
  key.length <= 256 ? key : `sha256:${createHash("sha256").update(key).digest("hex")}`;
