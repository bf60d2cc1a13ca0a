/** What the sample plugins did, in order, for tests to read. */
export const kept: string[] = [];
