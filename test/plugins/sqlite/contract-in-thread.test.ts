import { inThisThread } from "../../../plugins/sqlite/deps.ts";
import { journalContract } from "../../../src/testing/journal.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

// As commands open it.
describe("sqlite", () => {
  const folder = temporaryFolder();
  let file = "";
  journalContract("sqlite, a file, without threads", {
    async open(options) {
      file = freshFile(folder);
      return openFile(file, options, await inThisThread());
    },
    reopen: async (options) => openFile(file, options, await inThisThread()),
  });
});
