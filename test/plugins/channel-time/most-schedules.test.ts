import { expect } from "chai";
import type { KeyValues } from "../../../src/core/journal/key-values.ts";
import { StoredSchedules } from "../../../src/core/ports/schedules.ts";
import { serviceOf } from "./world.ts";

const timing = { timezone: "UTC", overlap: "queue", jitter: 0, catchUp: 0, at: Date.now() + 86_400_000 } as const;
const one = { tenant: "default", agent: "assistant", input: {}, createdAt: 0, ...timing };

describe("schedules that are made at the same time", () => {
  it("by two processes are no more either", async () => {
    const service = await serviceOf("channels: { http: {}, time: {} }\njournal: { type: memory }\n");
    const stored = new StoredSchedules(service.host.journal.keyValues as KeyValues);
    const { add } = StoredSchedules.prototype;
    try {
      await Promise.all(Array.from({ length: 999 }, (_, index) => stored.add({ ...one, name: `many-${index}` })));
      StoredSchedules.prototype.add = async function (schedule) {
        // What another process stores between the check and the write of this one.
        await add.call(this, { ...one, name: "theirs" });
        return await add.call(this, schedule);
      };
      const response = await fetch(`${service.url}/v1/schedules`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name: "mine", in: "1h", agent: "assistant", input: "Hello." }),
      });
      expect(response.status).to.equal(413);
      const names: string[] = [];
      for await (const { name } of stored.all()) names.push(name);
      expect(names).to.have.length(1_000).and.include("theirs").and.not.include("mine");
    } finally {
      StoredSchedules.prototype.add = add;
      await service.close();
    }
  });

  it("are as many as a tenant may have, and no more", async () => {
    const service = await serviceOf("channels: { http: {}, time: {} }\njournal: { type: sqlite, path: ./runs.db }\n");
    try {
      const stored = new StoredSchedules(service.host.journal.keyValues as KeyValues);
      await Promise.all(Array.from({ length: 999 }, (_, index) => stored.add({ ...one, name: `many-${index}` })));
      const make = async (name: string) => {
        const response = await fetch(`${service.url}/v1/schedules`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ name, in: "1h", agent: "assistant", input: "Hello." }),
        });
        return response.status;
      };
      expect(await Promise.all(["a", "b", "c", "d"].map(make))).to.have.members([201, 413, 413, 413]);
    } finally {
      await service.close();
    }
  });
});
