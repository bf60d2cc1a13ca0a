import { callRetracted, isCutShort, VendorAnswer } from "venturi/internal";
import type { EventOf, RunEvent, RunRequest, VenturiError } from "venturi/plugin";
import { asRecord } from "venturi/plugin/provider";
import { type CallEvent, CallTurns } from "./call-turns.ts";
import { createdOf } from "./created.ts";
import { type Item, type ResponseState, responseBody, type Status } from "./responses-body.ts";
import { Calls } from "./responses-calls.ts";
import { responsesWire } from "./responses-content.ts";
import { responseError } from "./responses-errors.ts";
import { ResponseOutput } from "./responses-output.ts";
import { Speech } from "./responses-speech.ts";
import { toolForms } from "./responses-tools.ts";

export interface ResponseView {
  readonly run: string;
  readonly request: RunRequest;
  /** The client has seen frames up to this sequence number. */
  readonly after?: number;
  /** The client reads this stream alone and executes calls as they come, so a whole one cannot be taken back. */
  readonly executes?: boolean;
}

/**
 * A run as Responses API events, and the response so far. Derived entirely from the run's request and events, so a response
 * read later has the same items, ids and sequence numbers.
 */
export class ResponseProjection {
  readonly #view: ResponseView;
  readonly #output: ResponseOutput;
  readonly #speech: Speech;
  readonly #calls: Calls;
  readonly #turns = new CallTurns();
  /** Items of vendor tools, by vendor id. */
  readonly #vendors = new Map<string, number>();
  #state: Omit<ResponseState, "output">;
  #roundStart = 0;
  /** The vendor's fields about its response, emitted at the end. */
  readonly #vendor = new VendorAnswer(responsesWire);

  constructor(view: ResponseView) {
    const { run, request, after = -1 } = view;
    const include = request.native?.fields.include;
    const proofs = Array.isArray(include) && include.includes("reasoning.encrypted_content");
    this.#view = view;
    this.#state = { status: "queued", created: createdOf(run, 0) };
    this.#output = new ResponseOutput({ run, after, proofs });
    this.#speech = new Speech(this.#output);
    this.#calls = new Calls(this.#output, toolForms(request.clientTools ?? []));
  }

  readonly project = (event: RunEvent): string => {
    switch (event.type) {
      case "run.started":
        return this.#start(event.at);
      case "round.started":
        this.#vendor.add(event);
        this.#speech.provider = event.provider;
        this.#roundStart = this.#output.items.length;
        return "";
      case "text.delta":
      case "refusal.delta":
        return this.#speech.say(event);
      case "reasoning.delta":
        return this.#speech.think(event);
      case "provider.activity":
        return event.wire === responsesWire ? this.#activity(event) : "";
      case "tool_call.started":
      case "tool_call.delta":
      case "tool_call.ready":
      case "tool_call.rejected":
        return this.#call(event);
      case "generation.finished":
        this.#vendor.add(event);
        return "";
      case "round.retracted":
        return this.#retract();
      case "round.finished":
        return this.#speech.close(reasonOf(event.finish) === undefined ? "completed" : "incomplete");
      case "run.finished":
        return this.#finish(event);
      case "run.failed":
        return this.#fail(event);
      default:
        return "";
    }
  };

  /** Repeats an event that clients ignore. Before the first event there is no response to refer to. */
  readonly heartbeat = (): string =>
    this.#state.status === "queued"
      ? ": keep-alive\n\n"
      : this.#output.repeat("response.in_progress", { response: this.body });

  /** The last frame when the events cannot be read further. */
  readonly failed = (error: VenturiError): string => {
    const { code, message, param, retry_after } = responseError(error.toJSON());
    return this.#output.frame("error", { code, message, param, ...(retry_after === undefined ? {} : { retry_after }) });
  };

  /** The response as shown to the client. */
  get body(): Record<string, unknown> {
    const { run, request } = this.#view;
    const vendor = this.#state.status === "in_progress" ? undefined : this.#vendor;
    return responseBody(run, request, { ...this.#state, output: this.#output.shown, ...(vendor && { vendor }) });
  }

  get status(): Status {
    return this.#state.status;
  }

  /** The items with everything needed to continue from them. */
  get items(): readonly Item[] {
    return this.#output.kept;
  }

  #start(at: number): string {
    this.#state = { status: "in_progress", created: createdOf(this.#view.run, at) };
    const response = this.body;
    return (
      this.#output.frame("response.created", { response }) + this.#output.frame("response.in_progress", { response })
    );
  }

  /** Vendor tool activity becomes items, and sources become annotations of their text. */
  #activity(event: EventOf<"provider.activity">): string {
    if (this.#vendor.add(event)) return "";
    const { kind, data, keep } = event;
    if (kind === "fields") return this.#calls.fields(data) ? "" : this.#speech.fields(data);
    if (kind === "citation") return this.#speech.cite(data);
    if (kind !== "server_tool") return "";
    const vendors = asRecord(data);
    const vendorId = String(vendors.id ?? "");
    const known = this.#vendors.get(vendorId);
    const index = known ?? this.#output.items.length;
    const frames = this.#speech.close();
    const item = { ...vendors, id: this.#output.id(/^[a-z]+/.exec(vendorId)?.[0] ?? "item", index) };
    if (known === undefined) this.#vendors.set(vendorId, index);
    const added = known === undefined ? this.#output.add(item) : "";
    return frames + added + (keep ? this.#output.done(index, item) : "");
  }

  #call(event: CallEvent): string {
    let frames = "";
    for (const each of this.#turns.add(event)) {
      if (each.type === "tool_call.started") frames += this.#speech.close() + this.#calls.begin(each);
      else frames += each.type === "tool_call.delta" ? this.#calls.extend(each) : this.#calls.end(each);
    }
    return frames;
  }

  /** Ends what was open as incomplete. The final response is without it. */
  #retract(): string {
    const from = this.#roundStart;
    if (this.#view.executes && this.#calls.hasEnded(from)) throw callRetracted();
    const frames = this.#speech.close("incomplete") + this.#calls.cut();
    this.#turns.reset();
    this.#calls.drop(from);
    for (const [id, index] of this.#vendors) if (index >= from) this.#vendors.delete(id);
    this.#output.retract(from);
    return frames;
  }

  #finish(event: EventOf<"run.finished">): string {
    const { finish, usage, calls = [] } = event;
    const reason = reasonOf(finish);
    const status = reason === undefined ? "completed" : "incomplete";
    const frames = this.#speech.close(status) + this.#calls.rest(calls) + this.#calls.cut();
    this.#state = { ...this.#state, status, usage, bill: event, ...(reason === undefined ? {} : { reason }) };
    return frames + this.#output.frame(`response.${status}`, { response: this.body });
  }

  #fail(event: EventOf<"run.failed">): string {
    const { error, usage } = event;
    const frames = this.#speech.close("incomplete") + this.#calls.cut();
    const status = error.code === "stream_interrupted" ? "cancelled" : "failed";
    this.#state = { ...this.#state, status, usage, bill: event, ...(status === "failed" ? { error } : {}) };
    return frames + this.#output.frame(`response.${status}`, { response: this.body });
  }
}

/** Why the response is incomplete; undefined when it is complete. */
const reasonOf = (finish: string): string | undefined =>
  isCutShort(finish) ? "max_output_tokens" : finish === "content_filter" ? finish : undefined;
