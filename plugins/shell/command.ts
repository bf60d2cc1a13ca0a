/** A command the model may run, resolved and vetted at startup. */
export interface Command {
  readonly name: string;
  readonly description: string | undefined;
  /** Absolute, resolved once at startup: later changes of PATH or the workspace do not matter. */
  readonly program: string;
  readonly prefix: readonly string[];
  readonly arguments: "none" | "checked" | "any";
  /** The program's plain name, which selects its grammar. */
  readonly known: string;
  /** Its arguments are not checked, or name what to run: only a sandbox contains it. */
  readonly canRunCode: boolean;
  readonly allow: readonly RegExp[] | undefined;
  readonly deny: readonly RegExp[];
}
