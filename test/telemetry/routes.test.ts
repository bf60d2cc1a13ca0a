import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { checkGrpc } from "../../src/telemetry/sdk/grpc.ts";
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

  it("over gRPC needs packages that are there, or says which to install", () => {
    const grpc = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_EXPORTER_OTLP_ENDPOINT: here };
    const check = (environment: Record<string, string>, find: (name: string) => string | undefined) =>
      checkGrpc(routesOf("", environment), environment, find);
    const nowhere = () => undefined;
    const all = { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp", ...grpc };
    expect(() => check(all, (name) => name)).not.to.throw();
    expect(() =>
      check(
        { OTEL_TRACES_EXPORTER: "console", OTEL_METRICS_EXPORTER: "none", OTEL_LOGS_EXPORTER: "none", ...grpc },
        nowhere,
      ),
    ).not.to.throw();
    expect(() => check({ ...all, OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }, nowhere)).not.to.throw();
    expect(() => check(all, nowhere))
      .to.throw(VenturiError, /npm install @opentelemetry\/exporter-trace-otlp-grpc @opentelemetry\/exporter-metrics/)
      .with.property("code", "config_invalid");
    expect(() =>
      check({ ...all, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json", OTEL_METRICS_EXPORTER: "console" }, nowhere),
    ).to.throw(/npm install @opentelemetry\/exporter-logs-otlp-grpc`/);
  });
});
