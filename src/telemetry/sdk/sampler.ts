import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";

/**
 * The sampler named by OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG. All of them decide by the parent or the trace id, so
 * children of a sampled span are sampled too; column-based spans rely on that.
 */
export function samplerFrom(environment: Readonly<Record<string, string | undefined>>): Sampler {
  const argument = Number(environment.OTEL_TRACES_SAMPLER_ARG ?? 1);
  const ratio = () => new TraceIdRatioBasedSampler(argument >= 0 && argument <= 1 ? argument : 1);
  switch (environment.OTEL_TRACES_SAMPLER) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return ratio();
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: ratio() });
    default:
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
  }
}
