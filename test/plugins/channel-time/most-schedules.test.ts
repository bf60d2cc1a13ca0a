import { expect } from "chai";
import type { KeyValues } from "../../../src/core/journal/key-values.ts";
import { StoredSchedules } from "../../../src/core/ports/schedules.ts";
import { serviceOf } from "./world.ts";

describe("schedules that are made at the same time", () => {
  it("are as many as a tenant may have, and no more", async () => {
    const service = await serviceOf("channels: { http: {}, time: {} }\njournal: { type: sqlite, path: ./runs.db }\n");
    try {
      const stored = new StoredSchedules(service.host.journal.keyValues as KeyValues);
      const timing = { timezone: "UTC", overlap: "queue", jitter: 0, catchUp: 0, at: Date.now() + 86_400_000 } as const;
      const one = { tenant: "default", agent: "assistant", input: {}, createdAt: 0, ...timing };
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
