import type { Attributes } from "@opentelemetry/api";
import { ExportResultCode } from "@opentelemetry/core";
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from "@opentelemetry/otlp-exporter-base/node-http";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { Drops } from "../sdk/drops.ts";
import type { Block } from "./block.ts";
import { encodeBlocks } from "./encoder.ts";

const queueLimit = 65_536;
const batch = 4_096;
const delay = 1_000;
const inFlightLimit = 4;

/** Export destination of a signal, in the exporters' format. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly timeoutMillis: number;
}

/** Origin of the spans. */
export interface BlockOrigin {
  readonly resource: Attributes;
  readonly version: string | undefined;
}

/** Exports column-based spans to the same endpoint and over the same transport as the SDK's exporter. */
export class BlockQueue {
  readonly #delegate: ReturnType<typeof createDelegate>;
  readonly #drops: Drops;
  #blocks: Block[] = [];
  #waiting = 0;
  #inFlight = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(target: OtlpTarget, origin: BlockOrigin, drops: Drops) {
    this.#delegate = createDelegate(target, origin);
    this.#drops = drops;
  }

  add(block: Block): void {
    if (this.#waiting + block.size > queueLimit) {
      this.#drops.count("spans", "queue_full", block.size);
      return;
    }
    this.#blocks.push(block);
    this.#waiting += block.size;
    if (this.#waiting >= batch) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), delay).unref();
  }

  /** Resolves when everything queued has been sent or dropped. */
  async flush(): Promise<void> {
    while (this.#blocks.length > 0 || this.#inFlight.size > 0) {
      this.#send();
      await Promise.race(this.#inFlight);
    }
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#delegate.shutdown();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#blocks.length > 0 && this.#inFlight.size < inFlightLimit) {
      const blocks = this.#take();
      const sending: Promise<void> = this.#export(blocks).then(() => {
        this.#inFlight.delete(sending);
        if (this.#waiting >= batch) this.#send();
        else if (this.#blocks.length > 0) this.#timer ??= setTimeout(() => this.#send(), delay).unref();
      });
      this.#inFlight.add(sending);
    }
  }

  #take(): Block[] {
    let size = 0;
    let count = 0;
    while (count < this.#blocks.length && size < batch) size += this.#blocks[count++]?.size ?? 0;
    return this.#blocks.splice(0, count);
  }

  /** Never rejects. Blocks in flight still count as queued, so that a hanging collector cannot grow memory. */
  #export(blocks: readonly Block[]): Promise<void> {
    const size = blocks.reduce((sum, block) => sum + block.size, 0);
    return new Promise<boolean>((resolve) => {
      this.#delegate.export(blocks, (result) => resolve(result.code === ExportResultCode.SUCCESS));
    })
      .catch(() => false)
      .then((sent) => {
        this.#waiting -= size;
        if (!sent) this.#drops.count("spans", "export_failed", size);
      });
  }
}

function createDelegate(target: OtlpTarget, { resource, version }: BlockOrigin) {
  return createOtlpHttpExportDelegate(
    convertLegacyHttpOptions(target, "TRACES", "v1/traces", {
      "Content-Type": "application/x-protobuf",
    }),
    {
      serializeRequest: (blocks: readonly Block[]) => encodeBlocks(blocks, resource, version),
      deserializeResponse: (data) => ProtobufTraceSerializer.deserializeResponse(data),
    },
    "otlp_http_span_exporter",
    { name: "span", countItems: (blocks) => blocks.reduce((sum, block) => sum + block.size, 0) },
    undefined,
  );
}
