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
  /** The entry of `tools` whose document it is. */
  document: z.string(),
  scope: MemoryScope,
  /** The session, the user or the agent. */
  owner: z.string(),
  /** Of the document, from 1. */
  version: z.number().int(),
  patch: z.array(PatchOperation),
  why: z.string().exactOptional(),
  /** Id of the key that started the run. */
  by: z.string().exactOptional(),
};

/** What was found in a memory and given to the model. */
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
      /** As the model gets it, guards have seen it. Absent when a call found it: the text is in the call's result. */
      text: z.string().exactOptional(),
      /** When it was noted. */
      at: z.number(),
      /** Compares within this search only. */
      score: z.number(),
    }),
  ),
};
export type RecalledNote = z.output<typeof memoryRecalled.notes>[number];
