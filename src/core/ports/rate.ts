/** Current state of a per-minute limit on requests or tokens. */
export interface RateState {
  readonly of: "requests" | "tokens";
  readonly most: number;
  readonly left: number;
  /** When the full limit is available again, ms from now. */
  readonly resetMs: number;
}
