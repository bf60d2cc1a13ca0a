/** An auditable action. Holds no secrets and no content. */
export interface AuditEntry {
  /** Such as `auth.failed`, `approval.given`, `run.cancelled`, `config.reloaded`. */
  readonly action: string;
  /** Id of the key, subject of the token, or the surface: `cli`, `library`, an address. */
  readonly by: string;
  readonly tenant?: string;
  readonly run?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditRecord extends AuditEntry {
  /** Increases with every record. */
  readonly number: number;
  readonly at: number;
}

export interface AuditQuery {
  readonly tenant?: string;
  readonly action?: string;
  readonly run?: string;
  readonly cursor?: string;
  readonly limit?: number;
}
