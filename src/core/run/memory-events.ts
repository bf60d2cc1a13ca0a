import { z } from "zod";

/** One operation of a JSON Patch (RFC 6902). */
export const PatchOperation = z.strictObject({
  op: z.enum(["add", "remove", "replace", "move", "copy", "test"]),
  path: z.string(),
  from: z.string().exactOptional(),
  value: z.unknown().exactOptional(),
});
export type PatchOperation = z.output<typeof PatchOperation>;

export const MemoryScope = z.enum(["session", "user", "agent"]);
export type MemoryScope = z.output<typeof MemoryScope>;

/** A call changed a document of working memory. */
export const memoryChanged = {
  /** The entry of `tools` that the document belongs to. */
  document: z.string(),
  scope: MemoryScope,
  /** The session, user or agent. */
  owner: z.string(),
  /** Version of the document, from 1. */
  version: z.number().int(),
  patch: z.array(PatchOperation),
  why: z.string().exactOptional(),
  /** Id of the key that started the run. */
  by: z.string().exactOptional(),
};

/** Notes found in a memory and given to the model. */
export const memoryRecalled = {
  /** The entry of `memories`. */
  store: z.string(),
  query: z.string(),
  /** Best first. */
  notes: z.array(
    z.strictObject({
      id: z.string(),
      scope: MemoryScope,
      owner: z.string(),
      /** The text given to the model, after guards. Absent when found by a call: the call's result has it. */
      text: z.string().exactOptional(),
      /** When it was stored. */
      at: z.number(),
      /** Only comparable within this search. */
      score: z.number(),
    }),
  ),
};
export type RecalledNote = z.output<typeof memoryRecalled.notes>[number];
