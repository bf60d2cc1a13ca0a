/** Id of every caller of a service without keys. */
export const noKey = "anyone";

/** The key that tells who it was; undefined if none does. */
export const whoIn = (by: unknown): string | undefined => (typeof by === "string" && by !== noKey ? by : undefined);

/** ` by KEY`, to end a phrase; nothing if no key tells who it was. */
export const byWhom = (by: unknown): string => (whoIn(by) === undefined ? "" : ` by ${by}`);
