/** Tolerated deviations from a wire format, by name. Names come from the code, never from the wire. */
export class Quirks extends Map<string, number> {
  count(name: string): void {
    this.set(name, (this.get(name) ?? 0) + 1);
  }
}
