import { real } from "../../../plugins/sqlite/deps.ts";
import { journalContract } from "../../../src/testing/journal.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

// As shipped. The same in npm test, with threads that last, takes 4 s of CPU instead of 25.
describe("sqlite", () => {
  const folder = temporaryFolder();
  let file = "";
  journalContract("sqlite, a file, each journal with threads of its own", {
    async open(options) {
      file = freshFile(folder);
      return openFile(file, options, real);
    },
    reopen: (options) => openFile(file, options, real),
  });
});
