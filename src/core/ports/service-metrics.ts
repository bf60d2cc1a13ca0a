interface Described {
  readonly kind: "counter" | "level" | "histogram" | "gauge";
  readonly unit: string;
  readonly description: string;
  /** Reported by every process about something they share: summing it would count it several times. */
  readonly shared?: true;
}

/** Metrics the host records outside of runs, by OpenTelemetry name. */
export const serviceMetrics = {
  "http.server.request.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of HTTP requests, until the whole answer is sent",
  },
  "http.server.active_requests": { kind: "level", unit: "{request}", description: "HTTP requests being answered" },
  "venturi.requests.refused": {
    kind: "counter",
    unit: "{request}",
    description: "Requests and starts of runs that were refused with 401, 429 or 503, by reason and class of caller",
  },
  "venturi.queue.depth": { kind: "gauge", unit: "{run}", description: "Starts of runs that wait for a slot here" },
  "venturi.queue.wait": {
    kind: "histogram",
    unit: "s",
    description: "How long a run waited before it was executed, by queue",
  },
  "venturi.journal.runs": {
    kind: "gauge",
    unit: "{run}",
    description: "Runs in the journal that have not ended, by state",
    shared: true,
  },
  "venturi.approvals.open": {
    kind: "gauge",
    unit: "{approval}",
    description: "Approvals that nobody has answered",
    shared: true,
  },
  "venturi.runs.unexecutable": {
    kind: "gauge",
    unit: "{run}",
    description: "Runs that could go on but whose agent this service does not have, by agent",
    shared: true,
  },
  "venturi.agents.paused": {
    kind: "gauge",
    unit: "{agent}",
    description: "Whether the runs of an agent wait because somebody paused it, by agent",
    shared: true,
  },
  "venturi.processes.ready": { kind: "gauge", unit: "{process}", description: "Processes that take runs now" },
  "venturi.process.restarts": {
    kind: "counter",
    unit: "{restart}",
    description: "Processes that ended by themselves and were replaced",
  },
  "venturi.budget.reached": {
    kind: "counter",
    unit: "{budget}",
    description: "Budgets that have reached 80 and 100 per cent, by budget",
  },
  "venturi.config.reload": { kind: "counter", unit: "{reload}", description: "Reloads of the config, by outcome" },
  "venturi.journal.write.failures": {
    kind: "counter",
    unit: "{failure}",
    description: "Writes that the journal refused or did not answer, by operation",
  },
} as const satisfies Record<string, Described>;

type Metrics = typeof serviceMetrics;
export type ServiceMetric<Kind extends Described["kind"]> = {
  [Name in keyof Metrics]: Metrics[Name]["kind"] extends Kind ? Name : never;
}[keyof Metrics];

/** The values of a gauge's series with their attributes. */
export type Observed = readonly { readonly value: number; readonly attributes?: Readonly<Record<string, string>> }[];
