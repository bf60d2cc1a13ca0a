import { expect } from "chai";
import { serviceOf } from "../channel-time/world.ts";

describe("answers to the interrupts of several runs", () => {
  it("are refused as a whole, so that none is taken without being shown", async () => {
    const service = await serviceOf(`
tools: { calc: { type: calculator, approval: always } }
agents: { assistant: { model: demo/small, tools: [calc] } }
channels: { http: {}, ag-ui: {}, ai-sdk: {} }
`);
    const post = async (path: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, text: await response.text() };
    };
    const ask = (threadId: string, more: object = {}) => {
      const messages = [{ id: "m", role: "user", content: "What is 17 * 23?" }];
      return post("/ag-ui/assistant", { threadId, runId: "r", messages, tools: [], context: [], ...more });
    };
    const interrupts: { id: string; toolCallId: string }[] = [];
    for (const thread of ["one", "two"]) {
      const { text } = await ask(thread);
      interrupts.push(...JSON.parse(/"interrupts":(\[.*?\])/.exec(text)?.[1] ?? "[]"));
    }
    expect(interrupts).to.have.length(2);
    const pending = async () => {
      const listed = await fetch(`${service.url}/v1/approvals`);
      return ((await listed.json()) as { approvals: unknown[] }).approvals.length;
    };
    const resume = interrupts.map(({ id }) => ({ interruptId: id, status: "resolved" }));
    const both = await ask("one", { resume });
    expect([both.status, both.text]).to.deep.equal([
      400,
      JSON.stringify({
        error: {
          op: "run.resume",
          code: "invalid_input",
          err: "these are answers to several runs; send them one run at a time",
        },
      }),
    ]);
    expect((await ask("one", { resume: [resume[0], { interruptId: "x", status: "resolved" }] })).status).to.equal(400);
    const parts = interrupts.map(({ id, toolCallId }) => ({
      type: "dynamic-tool",
      toolName: "calc",
      toolCallId,
      state: "approval-responded",
      input: {},
      approval: { id, approved: true },
    }));
    const chat = await post("/ai-sdk/assistant", { id: "c", messages: [{ id: "m", role: "assistant", parts }] });
    expect([chat.status, chat.text]).to.deep.equal([400, both.text]);
    expect(await pending()).to.equal(2);
    for (const each of resume) expect((await ask("one", { resume: [each] })).text).to.include("391");
    expect(await pending()).to.equal(0);
    await service.close();
  });
});
