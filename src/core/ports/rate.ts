/** A limit per minute as it stands: of requests or of tokens. */
export interface RateState {
  readonly of: "requests" | "tokens";
  readonly most: number;
  readonly left: number;
  /** When there is room for all of it again, ms from now. */
  readonly resetMs: number;
}
