/** Names something that the container holds, and knows its type. */
export type Token<T> = symbol & { readonly of?: T };

export const token = <T>(name: string): Token<T> => Symbol(name) as Token<T>;

/** What stands in the container instead of what Venturi registers under the token. */
export interface Provided<T = unknown> {
  readonly token: Token<T>;
  readonly value: T;
}

export const provide = <T>(token: Token<T>, value: T): Provided<T> => ({ token, value });
