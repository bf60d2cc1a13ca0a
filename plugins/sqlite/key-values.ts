import { mostListed } from "venturi/internal";
import type { KeyValues } from "venturi/plugin";
import type { Threads } from "./blobs.ts";

export const keyValues = ({ writes, reads }: Threads, fresh: () => number): KeyValues => ({
  get: (space, key) => reads.ask("getValue", space, key),
  async put(space, entry) {
    const version = fresh();
    return (await writes.ask("putValue", space, entry, version)) ? version : undefined;
  },
  remove: (space, key, version) => writes.ask("removeValue", space, key, version),
  list: (space, { prefix = "", after = "", limit = mostListed } = {}) =>
    reads.ask("listValues", space, { prefix, after, limit }),
});
