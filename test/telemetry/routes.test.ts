import { expect } from "chai";
import { routesOf } from "../../src/telemetry/sdk/routes.ts";

const everything = (route: string) => ({ traces: route, metrics: route, logs: route });
const here = "http://localhost:4318";

describe("where telemetry goes", () => {
  const cases: [string, string, Record<string, string>, object][] = [
    ["without an endpoint nothing is sent", "", {}, everything("nowhere")],
    ["with one everything goes there", here, {}, everything("endpoint")],
    ["a disabled SDK sends nothing", here, { OTEL_SDK_DISABLED: "true" }, everything("nowhere")],
    [
      "a signal that is switched off stays here",
      here,
      { OTEL_LOGS_EXPORTER: "none", OTEL_METRICS_EXPORTER: "otlp" },
      { ...everything("endpoint"), logs: "nowhere" },
    ],
    [
      "an exporter that is named is the environment's",
      here,
      { OTEL_TRACES_EXPORTER: "console" },
      { ...everything("endpoint"), traces: "environment" },
    ],
    [
      "otlp by name alone means its own default address",
      "",
      { OTEL_TRACES_EXPORTER: "otlp" },
      { ...everything("nowhere"), traces: "environment" },
    ],
    [
      "a signal's own endpoint wins",
      here,
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://elsewhere:4318/v1/traces" },
      { ...everything("endpoint"), traces: "environment" },
    ],
    [
      "gRPC is spoken where the environment names the endpoint",
      "http://localhost:4317",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      everything("environment"),
    ],
    ["gRPC alone is no endpoint", here, { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, everything("endpoint")],
  ];
  for (const [fact, endpoint, environment, routes] of cases) {
    it(fact, () => expect(routesOf(endpoint, environment)).to.deep.equal(routes));
  }
});
