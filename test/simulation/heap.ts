import type { Item } from "./world.ts";

/** A binary heap by time, then by age. */
export class Heap {
  readonly #items: Item[] = [];

  get first(): Item | undefined {
    return this.#items[0];
  }

  push(item: Item): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent];
      if (above === undefined || !before(item, above)) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): void {
    const items = this.#items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      let below = items[child];
      if (below === undefined) break;
      const other = items[child + 1];
      if (other !== undefined && before(other, below)) {
        child += 1;
        below = other;
      }
      if (!before(below, last)) break;
      items[at] = below;
      at = child;
    }
    items[at] = last;
  }
}

const before = (left: Item, right: Item): boolean => left.at < right.at || (left.at === right.at && left.id < right.id);
