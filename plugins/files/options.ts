import { Size, toolOptions } from "venturi/plugin";
import { z } from "zod";

/** Names that hold secrets or that other programs execute; a matching folder hides everything below it. */
const denied = [".env*", ".git", ".ssh", ".npmrc", ".netrc", "*.pem", "*.key", "*.p12", "id_rsa*", "id_ed25519*"];

export const FilesOptions = z.strictObject({
  ...toolOptions,
  root: z.string().describe("folder that the tools work in; relative to the config's folder"),
  write: z.boolean().default(false).describe("also offer tools that write and edit"),
  maxFile: Size.default(1_048_576).describe("largest file read or written"),
  maxEntries: z.number().int().positive().default(1_000).describe("maximum entries or matches per answer"),
  deny: z.array(z.string().max(200)).default(denied).describe("names hidden from the tools; * and ? match"),
});
export type FilesOptions = z.output<typeof FilesOptions>;
