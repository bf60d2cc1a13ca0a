import { expect } from "chai";
import type { Asked } from "../../../plugins/sqlite/store-thread.ts";
import type { Hint } from "../../../src/core/journal/journal.ts";
import { claimed, put, text } from "../../../src/testing/journal-bench.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";
import { sharedThreads } from "./shared-threads.ts";

describe("a reader of another process's run", () => {
  const folder = temporaryFolder();

  it("hears of an event that was stored after it had read, and before the file was watched", async () => {
    const file = freshFile(folder);
    const writer = await openFile(file);
    let watch = () => {};
    const reader = await openFile(
      file,
      {},
      {
        ...sharedThreads,
        connect: (options, listener) => {
          const thread = sharedThreads.connect(options, listener);
          const late = async (operation: string, ...args: never[]) => {
            if (operation === "watchEvents") await new Promise<void>((resolve) => (watch = resolve));
            return await thread.ask(operation as "ping", ...args);
          };
          return { ...thread, ask: late, close: () => thread.close() } as unknown as Asked;
        },
      },
    );
    const { ownership } = await claimed(writer);
    const heard = new Promise<Hint>((resolve) => {
      reader.onHint((hint) => hint.events(ownership.run) && resolve(hint));
    });
    expect(await reader.read(ownership.run, 0, 10)).to.have.length(0);
    await put(writer, ownership, [text("x")]);
    watch();
    await heard;
    await reader.close();
    await writer.close();
  });
});
