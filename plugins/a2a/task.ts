import { isJsonObject, type JsonObject } from "venturi/internal";
import { RichOutput, type ToolFile, VenturiError } from "venturi/plugin";
import { strange } from "./remote.ts";

/** Maximum characters of all artifacts together, and their maximum number. */
const mostText = 16 * 1024 * 1024;
const mostArtifacts = 1_000;

/** A task of another service's agent, assembled from its updates. */
export class RemoteTask {
  readonly #artifacts = new Map<string, JsonObject[]>();
  #size = 0;
  id = "";
  context = "";
  state = "";
  status: JsonObject = {};
  /** An answer without a task. */
  #message: JsonObject | undefined;

  get isOver(): boolean {
    return this.#message !== undefined || ends.has(this.state);
  }

  get isAsking(): boolean {
    return this.state === "TASK_STATE_INPUT_REQUIRED" || this.state === "TASK_STATE_AUTH_REQUIRED";
  }

  /** Applies an update; returns the text that it adds to the answer. */
  take(update: JsonObject): string {
    const { task, message, statusUpdate, artifactUpdate } = update;
    if (isJsonObject(task)) this.#whole(task);
    else if (isJsonObject(message)) this.#message = message;
    else if (isJsonObject(statusUpdate)) this.#noteStatus(statusUpdate.status);
    else if (isJsonObject(artifactUpdate)) return this.#add(artifactUpdate);
    else if (typeof update.id === "string" && isJsonObject(update.status)) this.#whole(update);
    return "";
  }

  /** The answer; throws when there is none. */
  output(): unknown {
    if (this.#message === undefined && this.state !== "TASK_STATE_COMPLETED") {
      const said = wordsOf(partsOf(this.status.message));
      const how = this.state.replace("TASK_STATE_", "").toLowerCase();
      throw new VenturiError("tool.call", "tool_failed", `the agent's task is ${how}${said === "" ? "" : `: ${said}`}`);
    }
    const parts = this.#message === undefined ? [...this.#artifacts.values()].flat() : partsOf(this.#message);
    const files = parts.flatMap(fileIn);
    const isImage = ({ mediaType }: ToolFile) => mediaType.startsWith("image/");
    const text = wordsOf(parts);
    if (files.length === 0) return text;
    return new RichOutput(
      text,
      files.filter(isImage),
      files.filter((file) => !isImage(file)),
    );
  }

  #whole(task: JsonObject): void {
    const id = String(task.id ?? "");
    if (this.id !== "" && id !== this.id) throw strange("it answers for another task");
    this.id = id;
    this.context = typeof task.contextId === "string" ? task.contextId : this.context;
    this.#noteStatus(task.status);
    if (!Array.isArray(task.artifacts)) return;
    this.#artifacts.clear();
    this.#size = 0;
    for (const artifact of task.artifacts) this.#add({ artifact });
  }

  #noteStatus(status: unknown): void {
    if (!isJsonObject(status)) return;
    this.status = status;
    this.state = String(status.state ?? "");
  }

  #add({ artifact, append }: JsonObject): string {
    if (!isJsonObject(artifact)) return "";
    const key = String(artifact.artifactId ?? "");
    const before = append === true ? (this.#artifacts.get(key) ?? []) : [];
    const parts = partsOf(artifact);
    this.#size += JSON.stringify(parts).length;
    if (this.#size > mostText * 2 || this.#artifacts.size > mostArtifacts) throw strange("its answer has no end");
    this.#artifacts.set(key, joined(before, parts));
    return wordsOf(parts);
  }
}

const ends: ReadonlySet<string> = new Set([
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_REJECTED",
]);

export const partsOf = (of: unknown): JsonObject[] =>
  isJsonObject(of) && Array.isArray(of.parts) ? of.parts.filter(isJsonObject) : [];

/** Joins pieces of one text into one part. */
function joined(before: JsonObject[], parts: readonly JsonObject[]): JsonObject[] {
  for (const part of parts) {
    const last = before.at(-1);
    if (typeof last?.text === "string" && typeof part.text === "string")
      before[before.length - 1] = { text: last.text + part.text };
    else before.push(part);
  }
  return before;
}

export const wordsOf = (parts: readonly JsonObject[]): string =>
  parts
    .flatMap(({ text, data, url }) => {
      if (typeof text === "string") return [text];
      if (data !== undefined) return [JSON.stringify(data)];
      return typeof url === "string" ? [url] : [];
    })
    .join("\n");

function fileIn({ raw, mediaType, filename }: JsonObject): ToolFile[] {
  if (typeof raw !== "string") return [];
  const type = typeof mediaType === "string" && mediaType !== "" ? mediaType : "application/octet-stream";
  return [
    { mediaType: type, data: raw, ...(typeof filename === "string" && filename !== "" ? { name: filename } : {}) },
  ];
}
