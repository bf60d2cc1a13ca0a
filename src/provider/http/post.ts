/** A complete request, to be signed. */
export interface Unsigned {
  readonly url: string;
  readonly body: readonly Buffer[];
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}
