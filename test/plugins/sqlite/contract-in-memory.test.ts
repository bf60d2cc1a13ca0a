import { journalContract } from "../../../src/testing/journal.ts";
import { openFile } from "./folder.ts";

journalContract("sqlite, in memory", { open: (options) => openFile(":memory:", options) });
