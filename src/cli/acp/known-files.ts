import type { EventOf } from "../../core/run/events.ts";
import type { JsonObject } from "../../serve/json-rpc.ts";
import type { ToolView } from "./tool-views.ts";

const mostFiles = 100;
const longestFile = 262_144;

/**
 * Contents of files as the session's calls last read or wrote them: the old text for a file that is overwritten. Taken from the journal, as
 * the file may have changed by the time its event is seen.
 */
export class KnownFiles {
  readonly #texts = new Map<string, string>();

  /** Adds to the view of a call the text that it replaces. */
  completed(view: ToolView): ToolView {
    const old = view.file?.verb === "write" ? this.#texts.get(view.file.path) : undefined;
    return old === undefined ? view : { ...view, diffs: view.diffs.map((diff) => ({ ...diff, oldText: old })) };
  }

  after({ file }: ToolView, input: JsonObject, { output, hash }: EventOf<"tool.finished">): void {
    if (file === undefined) return;
    const { path, verb } = file;
    const known = this.#texts.get(path);
    const { content, find, replace } = input;
    if (verb === "read" && input.from === undefined && input.lines === undefined) {
      this.#keep(path, hash === undefined ? output : undefined);
    } else if (verb === "write") this.#keep(path, content);
    else if (verb === "edit")
      this.#keep(
        path,
        known?.replace(String(find), () => String(replace)),
      );
    else if (verb === "patch") this.#texts.delete(path);
  }

  #keep(path: string, text: unknown): void {
    this.#texts.delete(path);
    if (typeof text !== "string" || text.length > longestFile) return;
    this.#texts.set(path, text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > mostFiles && oldest !== undefined) this.#texts.delete(oldest);
  }
}
