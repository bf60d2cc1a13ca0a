import type { Logger } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import type { Resource } from "@opentelemetry/resources";
import {
  BatchLogRecordProcessor,
  LoggerProvider,
  type LogRecordExporter,
  type ReadableLogRecord,
} from "@opentelemetry/sdk-logs";
import type { OtlpTarget } from "./block-queue.ts";
import type { Drops } from "./drops.ts";
import { scope } from "./names.ts";

const queueLimit = 4_096;

/** Log records on their way to the collector, bounded, with losses counted. */
export class LogQueue {
  readonly logger: Logger;
  readonly #provider: LoggerProvider;

  private constructor(provider: LoggerProvider) {
    this.#provider = provider;
    this.logger = provider.getLogger(scope);
  }

  static create(target: OtlpTarget, resource: Resource, drops: Drops): LogQueue {
    const exporter = counted(new OTLPLogExporter(target), drops);
    const processor = new BatchLogRecordProcessor({
      exporter,
      maxQueueSize: queueLimit,
      scheduledDelayMillis: 1_000,
      exportTimeoutMillis: target.timeoutMillis,
    });
    return new LogQueue(new LoggerProvider({ resource, processors: [processor] }));
  }

  flush(): Promise<void> {
    return this.#provider.forceFlush();
  }

  close(): Promise<void> {
    return this.#provider.shutdown();
  }
}

function counted(exporter: LogRecordExporter, drops: Drops): LogRecordExporter {
  return {
    export: (records: ReadableLogRecord[], done: (result: ExportResult) => void) => {
      exporter.export(records, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) drops.count("logs", "export_failed", records.length);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
