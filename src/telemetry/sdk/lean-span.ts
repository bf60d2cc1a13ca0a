import {
  type Attributes,
  type AttributeValue,
  type Exception,
  type HrTime,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  type TimeInput,
} from "@opentelemetry/api";
import {
  cleanAttributes,
  cleanSimpleAttributes,
  hrTimeDuration,
  isTimeInput,
  timeInputToHrTime,
} from "@opentelemetry/core";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { keepOne } from "../../core/values/keep-one.ts";

/** The SDK's default limit for attributes and links. */
const most = 128;
const limits = { attributeCountLimit: most, attributeValueLengthLimit: Number.POSITIVE_INFINITY };

/** Shared by spans that have none of their own: most of them, at 250 bytes each. */
const unset: SpanStatus = { code: SpanStatusCode.UNSET };
const never: HrTime = [0, 0];
const noLinks: ReadableSpan["links"] = [];
const noEvents: ReadableSpan["events"] = [];

/** What all spans of a tracer have in common. */
export interface SpanDefaults {
  readonly resource: ReadableSpan["resource"];
  readonly scope: ReadableSpan["instrumentationScope"];
  readonly eventLimit: number;
  ended(span: ReadableSpan): void;
}

export interface SpanIdentity {
  readonly name: string;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
}

/**
 * A span like the SDK's, at a fraction of its cost: the SDK checks each attribute up to three times and allocates a `WeakSet` each time, a
 * seventh of all allocations of a short run with tools. Here strings, numbers and booleans, which are what we set, take a short path;
 * anything else goes through the SDK's checks. Tools see it as the API's active span.
 */
export class LeanSpan implements Span, ReadableSpan {
  name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  endTime: HrTime = never;
  readonly attributes: Attributes = {};
  links: ReadableSpan["links"] = noLinks;
  events: ReadableSpan["events"] = noEvents;
  status: SpanStatus = unset;
  ended = false;
  droppedAttributesCount = 0;
  droppedEventsCount = 0;
  droppedLinksCount = 0;
  readonly #defaults: SpanDefaults;
  readonly #context: SpanContext;
  #attributes = 0;

  constructor(defaults: SpanDefaults, { name, context, parent }: SpanIdentity, given: SpanOptions) {
    this.#defaults = defaults;
    this.#context = context;
    this.name = name;
    this.kind = given.kind ?? SpanKind.INTERNAL;
    if (parent !== undefined) this.parentSpanContext = parent;
    this.startTime = timeInputToHrTime(given.startTime ?? Date.now());
    const { attributes = {} } = given;
    for (const key in attributes) {
      const value = attributes[key];
      if (value !== undefined && !this.#put(key, value)) this.droppedAttributesCount++;
    }
    if (given.links !== undefined) this.addLinks(given.links);
    keepOne(this);
  }

  get resource(): ReadableSpan["resource"] {
    return this.#defaults.resource;
  }

  get instrumentationScope(): ReadableSpan["instrumentationScope"] {
    return this.#defaults.scope;
  }

  get duration(): HrTime {
    return hrTimeDuration(this.startTime, this.endTime);
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  isRecording(): boolean {
    return !this.ended;
  }

  setAttribute(key: string, value: AttributeValue | null | undefined): this {
    if (!this.ended && value !== undefined) this.#put(key, value);
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const key in attributes) if (Object.hasOwn(attributes, key)) this.setAttribute(key, attributes[key]);
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.ended) return this;
    if (this.events.length >= this.#defaults.eventLimit) {
      this.events.shift();
      this.droppedEventsCount++;
    }
    const timeOnly = isTimeInput(attributesOrTime);
    const at = time ?? (timeOnly ? attributesOrTime : Date.now());
    const clean = cleanSimpleAttributes(timeOnly ? undefined : attributesOrTime, limits);
    if (this.events === noEvents) this.events = [];
    this.events.push({ name, time: timeInputToHrTime(at), ...clean });
    return this;
  }

  addLink({ context, attributes }: Link): this {
    if (this.ended) return this;
    if (this.links.length >= most) {
      this.links.shift();
      this.droppedLinksCount++;
    }
    if (this.links === noLinks) this.links = [];
    this.links.push({ context, ...cleanAttributes(attributes, limits) });
    return this;
  }

  addLinks(links: Link[]): this {
    for (const link of links) this.addLink(link);
    return this;
  }

  setStatus({ code, message }: SpanStatus): this {
    if (this.ended || code === SpanStatusCode.UNSET || this.status.code === SpanStatusCode.OK) return this;
    const told = code === SpanStatusCode.ERROR && typeof message === "string";
    this.status = told ? { code, message } : { code };
    return this;
  }

  updateName(name: string): this {
    if (!this.ended) this.name = name;
    return this;
  }

  recordException(exception: Exception, time?: TimeInput): void {
    const { code, name, message, stack } = exceptionOf(exception);
    const type = code === undefined ? name : String(code);
    this.addEvent(
      "exception",
      { "exception.type": type, "exception.message": message, "exception.stacktrace": stack },
      time,
    );
  }

  end(time?: TimeInput): void {
    if (this.ended) return;
    this.ended = true;
    const end = timeInputToHrTime(time ?? Date.now());
    const early = end[0] < this.startTime[0] || (end[0] === this.startTime[0] && end[1] < this.startTime[1]);
    this.endTime = early ? this.startTime : end;
    this.#defaults.ended(this);
  }

  /** False if the value is not a valid attribute. */
  #put(key: string, value: AttributeValue | null): boolean {
    const known = Object.hasOwn(this.attributes, key);
    if (!known && this.#attributes >= most) {
      this.droppedAttributesCount++;
      return true;
    }
    const plain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    const clean = plain && key !== "" ? value : cleanAttributes({ [key]: value }, limits).attributes?.[key];
    if (clean === undefined) return false;
    if (!known) this.#attributes++;
    this.attributes[key] = clean;
    return true;
  }
}

const exceptionOf = (
  exception: Exception,
): { code?: string | number; name?: string; message?: string; stack?: string } =>
  typeof exception === "string" ? { message: exception } : exception;
