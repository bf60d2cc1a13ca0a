import { expect } from "chai";
import { messagesOf } from "../../../plugins/channel-time/message.ts";
import { WebhookOptions, webhookEvents } from "../../../plugins/channel-time/webhook-options.ts";
import { stopReasonOf } from "../../../src/cli/acp/stop-reason.ts";
import type { RunEvent, TerminalEvent } from "../../../src/core/run/events.ts";
import { limitNames } from "../../../src/core/run/limit-names.ts";
import type { RunRow } from "../../../src/core/run/run-row.ts";
import { causeOfFinish } from "../../../src/serve/why/causes.ts";

const row = { run: "run_1", tenant: "default", agent: "a", request: {} } as RunRow; // what a message tells of it
const options = WebhookOptions.parse({ secret: "0123456789abcdef", events: [...webhookEvents] });
const ended = (finish: string) =>
  ({ type: "run.finished", run: "run_1", seq: 3, at: 0, finish, output: "", usage: {} }) as unknown as TerminalEvent;
const told = (event: RunEvent) => messagesOf(row, event, options).map(({ type }) => type);

describe("a run that ends at any of its limits", () => {
  for (const finish of limitNames) {
    it(`(${finish}) is told as such by webhooks, by why and to editors`, () => {
      expect(told(ended(finish))).to.deep.equal(["budget.exceeded", "run.finished"]);
      expect(causeOfFinish(finish)).to.equal("limit");
      expect(stopReasonOf(ended(finish))).not.to.equal("end_turn");
    });
  }

  it("is no other one", () => {
    for (const finish of ["stop", "length", "tool_calls", "max"]) {
      expect(told(ended(finish)), finish).to.deep.equal(["run.finished"]);
      expect(causeOfFinish(finish), finish).not.to.equal("limit");
    }
    expect(stopReasonOf(ended("stop"))).to.equal("end_turn");
  });
});
