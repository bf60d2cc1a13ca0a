/** A command that the model may run, found and vetted at the start. */
export interface Command {
  readonly name: string;
  readonly description: string | undefined;
  /** Absolute, found once at the start: what a PATH or a workspace says later does not matter. */
  readonly program: string;
  readonly prefix: readonly string[];
  readonly arguments: "none" | "checked" | "any";
  /** The program's plain name, by which its grammar is found. */
  readonly known: string;
  /** Its arguments are not judged, or say what to run: only a sandbox holds it. */
  readonly canRunCode: boolean;
  readonly allow: readonly RegExp[] | undefined;
  readonly deny: readonly RegExp[];
}
