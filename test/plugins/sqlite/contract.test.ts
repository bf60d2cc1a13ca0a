import { journalContract } from "../../../src/testing/journal.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

describe("sqlite", () => {
  const folder = temporaryFolder();
  let file = "";
  journalContract("sqlite, a file", {
    async open(options) {
      file = freshFile(folder);
      return openFile(file, options);
    },
    reopen: (options) => openFile(file, options),
  });
});
