/** A typed key into the container. */
export type Token<T> = symbol & { readonly of?: T };

export const token = <T>(name: string): Token<T> => Symbol(name) as Token<T>;

/** A replacement for what Venturi registers under the token. */
export interface Provided<T = unknown> {
  readonly token: Token<T>;
  readonly value: T;
}

export const provide = <T>(token: Token<T>, value: T): Provided<T> => ({ token, value });
