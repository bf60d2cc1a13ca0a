import { NotesInMemory } from "../../../plugins/recall-memory/notes.ts";
import { memoryContract } from "../../../src/testing/memory.ts";

memoryContract("memory", { open: async () => new NotesInMemory() });
