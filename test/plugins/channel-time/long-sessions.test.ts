import { createHmac } from "node:crypto";
import { expect } from "chai";
import { serviceOf } from "./world.ts";

const secret = "hook-secret-0123456789";
const hook = `{ from: github, secret: ${secret}, agent: assistant, input: "{{body.text}}", session: "{{body.thread}}" }`;

describe("conversations of a hook", () => {
  it("are two although their names begin alike for 256 characters", async () => {
    const service = await serviceOf(`channels: { time: { hooks: { gh: ${hook} } } }\n`);
    const sessions: (string | undefined)[] = [];
    const long = "x".repeat(300);
    for (const thread of [`${long}1`, `${long}2`, `${long}1`]) {
      const body = JSON.stringify({ text: `${sessions.length}`, thread });
      const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
      const headers = { "content-type": "application/json", "x-hub-signature-256": signature };
      const response = await fetch(`${service.url}/v1/hooks/gh`, { method: "POST", headers, body });
      const { run } = (await response.json()) as { run: string };
      sessions.push((await service.host.runs.get(run)).session);
    }
    await service.close();
    const [one, other, again] = sessions;
    expect(one).to.match(/^sha256:/);
    expect(again).to.equal(one);
    expect(other).not.to.equal(one);
  });
});
