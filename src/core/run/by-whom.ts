/** Id of every caller of a service without keys. */
export const noKey = "anyone";

/** ` by KEY`, to end a phrase; nothing if no key tells who it was. */
export const byWhom = (by: unknown): string => (typeof by === "string" && by !== noKey ? ` by ${by}` : "");
