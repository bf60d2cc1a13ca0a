/** A request as it will be sent, for a signature over it. */
export interface Unsigned {
  readonly url: string;
  readonly body: readonly Buffer[];
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}
