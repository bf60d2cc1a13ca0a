import type { Attributes } from "@opentelemetry/api";
import type { TerminalEvent } from "../../core/run/events.ts";
import { attributes } from "../base/names.ts";
import type { Instrumentation } from "./instrumentation.ts";
import { usageAttributes } from "./usage.ts";

/** Facts about the whole run for its root span, as one wide event. */
export class RunSummary {
  retries = 0;
  failovers = 0;
  toolCalls = 0;
  toolFailures = 0;
  generations = 0;
  maxGap = 0;
  provider: string | undefined;
  model: string | undefined;

  asked(provider: string | undefined, model: string | undefined): void {
    this.provider = provider;
    this.model = model;
  }

  attributes(
    { usage, output, ...end }: Omit<TerminalEvent, "run" | "seq" | "at">,
    content: Instrumentation["content"],
  ): Attributes {
    const finish = "finish" in end ? String(end.finish) : "error";
    return {
      ...(this.provider === undefined ? {} : { [attributes.provider]: this.provider }),
      ...(this.model === undefined ? {} : { [attributes.requestModel]: this.model }),
      ...usageAttributes(usage),
      ...(end.cost === undefined ? {} : { [attributes.cost]: end.cost }),
      ...(end.totalCost === undefined ? {} : { [attributes.totalCost]: end.totalCost }),
      [attributes.retries]: this.retries,
      [attributes.failovers]: this.failovers,
      [attributes.toolCalls]: this.toolCalls,
      [attributes.toolFailures]: this.toolFailures,
      [attributes.maxGap]: Math.round(this.maxGap * 1_000) / 1_000,
      ...(content.captured && output !== ""
        ? { [attributes.outputMessages]: content.answer(output, finish), [attributes.outputText]: content.text(output) }
        : {}),
    };
  }
}
