import { createRequire } from "node:module";
import { join } from "node:path";
import { VenturiError } from "../../core/errors/errors.ts";
import { type Environment, protocolOf, type Routes } from "./routes.ts";

const packages = {
  traces: "@opentelemetry/exporter-trace-otlp-grpc",
  metrics: "@opentelemetry/exporter-metrics-otlp-grpc",
  logs: "@opentelemetry/exporter-logs-otlp-grpc",
} as const;

/** gRPC needs 40 packages, so the published package leaves them out. Throws with what to install. */
export function checkGrpc(routes: Routes, environment: Environment, find = resolved): void {
  const missing = (["traces", "metrics", "logs"] as const).filter(
    (signal) =>
      routes[signal] === "environment" &&
      asksGrpc(signal.toUpperCase(), environment) &&
      find(packages[signal]) === undefined,
  );
  if (missing.length === 0) return;
  const names = missing.map((signal) => packages[signal]).join(" ");
  const message = `OTEL_EXPORTER_OTLP_PROTOCOL=grpc needs packages of its own; run \`npm install ${names}\`, or export over HTTP`;
  throw new VenturiError("telemetry.open", "config_invalid", message, { details: { packages: names.split(" ") } });
}

/** Loads a gRPC exporter package of OpenTelemetry, installed next to Venturi or in the program's folder. The bundle calls this too. */
export function requireGrpc(name: string): unknown {
  const found = resolved(name);
  // `checkGrpc` passed, so the SDK itself added this signal.
  if (found === undefined) throw new VenturiError("telemetry.open", "config_invalid", `run \`npm install ${name}\``);
  return createRequire(found)(found);
}

function asksGrpc(signal: string, environment: Environment): boolean {
  const exporters = (environment[`OTEL_${signal}_EXPORTER`] ?? "otlp").split(",").map((name) => name.trim());
  return protocolOf(signal, environment) === "grpc" && (exporters.includes("otlp") || exporters.includes(""));
}

function resolved(name: string): string | undefined {
  for (const place of [import.meta.url, join(process.cwd(), "package.json")]) {
    try {
      return createRequire(place).resolve(name);
    } catch {
      // Not installed there.
    }
  }
  return undefined;
}
