import { mostListed } from "venturi/internal";
import type { KeyValues } from "venturi/plugin";
import type { Threads } from "./blobs.ts";
import { Grouped } from "./grouped.ts";
import type { NewValue } from "./protocol.ts";

export const keyValues = ({ writes, reads }: Threads, fresh: () => number): KeyValues => {
  const puts = new Grouped<NewValue, boolean>(
    (entries) => writes.ask("putValues", entries),
    ({ entry }) => entry.value.length,
  );
  return {
    get: (space, key) => reads.ask("getValue", space, key),
    async put(space, entry) {
      const version = fresh();
      return (await puts.ask({ space, entry, fresh: version })) ? version : undefined;
    },
    remove: (space, key, version) => writes.ask("removeValue", space, key, version),
    list: (space, { prefix = "", after = "", limit = mostListed } = {}) =>
      reads.ask("listValues", space, { prefix, after, limit }),
  };
};
