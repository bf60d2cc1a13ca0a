/** `endpoint`: the configured one. `environment`: as OpenTelemetry's variables say. `nowhere`: not exported. */
export type Route = "endpoint" | "environment" | "nowhere";

export interface Routes {
  readonly traces: Route;
  readonly metrics: Route;
  readonly logs: Route;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where each signal is exported. `telemetry.otlp` is the default; OTEL_*_EXPORTER, a per-signal endpoint, or gRPC as the protocol override
 * it.
 */
export function routesOf(endpoint: string, environment: Environment): Routes {
  const route = (signal: string): Route => {
    const variable = (name: string) => environment[name]?.trim() ?? "";
    const exporter = variable(`OTEL_${signal}_EXPORTER`);
    if (exporter === "none" || variable("OTEL_SDK_DISABLED").toLowerCase() === "true") return "nowhere";
    if (exporter !== "" && exporter !== "otlp") return "environment";
    const own = variable(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`);
    if (own !== "") return "environment";
    if (variable("OTEL_EXPORTER_OTLP_ENDPOINT") !== "" && protocolOf(signal, environment) === "grpc")
      return "environment";
    if (endpoint !== "") return "endpoint";
    return exporter === "otlp" ? "environment" : "nowhere";
  };
  return { traces: route("TRACES"), metrics: route("METRICS"), logs: route("LOGS") };
}

export const protocolOf = (signal: string, environment: Environment): string | undefined =>
  environment[`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`] ?? environment.OTEL_EXPORTER_OTLP_PROTOCOL;

export const sendsAnything = ({ traces, metrics, logs }: Routes): boolean =>
  traces !== "nowhere" || metrics !== "nowhere" || logs !== "nowhere";
