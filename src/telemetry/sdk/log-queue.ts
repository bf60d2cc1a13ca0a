import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import {
  BatchLogRecordProcessor,
  type LogRecordExporter,
  type LogRecordProcessor,
  type ReadableLogRecord,
} from "@opentelemetry/sdk-logs";
import type { Drops } from "../metrics/drops.ts";
import type { OtlpTarget } from "../otlp/span-queue.ts";

const queueLimit = 4_096;

/** A bounded queue of log records for the collector, with losses counted. */
export function logQueue(target: OtlpTarget, drops: Drops): LogRecordProcessor {
  return new BatchLogRecordProcessor({
    exporter: counted(new OTLPLogExporter(target), drops),
    maxQueueSize: queueLimit,
    scheduledDelayMillis: 1_000,
    exportTimeoutMillis: target.timeoutMillis,
  });
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
