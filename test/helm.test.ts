import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parse, parseAllDocuments, stringify } from "yaml";
import { loadConfig } from "../src/host/config/load.ts";

/** Without a cluster helm asks nobody, and one built with `go install` assumes a very old one. */
const kubernetes = "1.31.0";
const chart = "deploy/helm/venturi";
const found = spawnSync(process.execPath, ["scripts/helm.mjs", "--find"], { encoding: "utf8" });
const helm = found.stdout.trim();

interface Resource {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: a tree of Kubernetes' types, looked at in single places
  readonly [key: string]: any;
}

describe("deploy/helm/venturi", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-helm-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  before(function () {
    if (helm !== "") return;
    console.log("      no helm here: skipped (node scripts/helm.mjs builds one)");
    this.skip();
  });

  const run = (...words: string[]) => spawnSync(helm, words, { encoding: "utf8" });
  const render = (values: object) => {
    const file = join(folder, "values.yaml");
    writeFileSync(file, stringify(values));
    return run("template", "mine", chart, "--namespace", "agents", "--values", file, "--kube-version", kubernetes);
  };
  const resources = (values: object): Map<string, Resource> => {
    const { status, stdout, stderr } = render(values);
    expect(status, stderr).to.equal(0);
    const all = parseAllDocuments(stdout).map((document) => document.toJS() as Resource | null);
    return new Map(all.filter((each) => each !== null).map((each) => [each.kind, each]));
  };
  const refused = (values: object): string => {
    const { status, stderr } = render(values);
    expect(status).not.to.equal(0);
    return stderr;
  };

  it("passes helm's own checks", () => {
    const { status, stdout } = run("lint", "--strict", "--kube-version", kubernetes, chart);
    expect(status, stdout).to.equal(0);
  });

  it("as it is: two replicas that can be drained and are never both away, without a token or a right too many", () => {
    const all = resources({});
    expect([...all.keys()].sort()).to.deep.equal(
      ["ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount"].sort(),
    );
    const { spec } = all.get("Deployment") ?? { kind: "" };
    expect(spec.replicas).to.equal(2);
    expect(spec.strategy.rollingUpdate).to.deep.equal({ maxUnavailable: 0, maxSurge: 1 });
    const pod = spec.template.spec;
    expect(pod.terminationGracePeriodSeconds).to.equal(5 + 25 + 10);
    expect(pod.automountServiceAccountToken).to.equal(false);
    const [container] = pod.containers;
    expect(container.lifecycle.preStop.exec.command).to.deep.equal(["sleep", "5"]);
    expect(container.readinessProbe.httpGet.path).to.equal("/readyz");
    expect(container.livenessProbe.httpGet.path).to.equal("/livez");
    expect(container.startupProbe.httpGet.path).to.equal("/livez"); // /readyz fails while the database is down
    expect(container.securityContext.capabilities.drop).to.deep.equal(["ALL"]);
    expect(container.ports[0].containerPort).to.equal(7070);
    expect(all.get("PodDisruptionBudget")?.spec.maxUnavailable).to.equal(1);
    const selector = all.get("Service")?.spec.selector;
    expect(spec.template.metadata.labels).to.include(selector);
    expect(all.get("NetworkPolicy")?.spec.podSelector.matchLabels).to.deep.equal(selector);
  });

  it("its configuration is one that Venturi takes", async () => {
    const text: string = resources({}).get("ConfigMap")?.data["venturi.yaml"];
    const file = join(folder, "venturi.yaml");
    writeFileSync(file, text);
    const env = {
      VENTURI_POSTGRES_URL: "postgres://u:p@db/venturi",
      VENTURI_KEY_SHA256: "a".repeat(64),
      VENTURI_METRICS_KEY_SHA256: "b".repeat(64),
    };
    const { limits, journal } = await loadConfig({ file, env });
    expect(journal.type).to.equal("postgres");
    expect(limits.afterDrain).to.equal("release");
    expect(limits.drain).to.equal(25_000);
  });

  it("another configuration restarts the pods", () => {
    const checksum = (values: object) =>
      resources(values).get("Deployment")?.spec.template.metadata.annotations["checksum/config"];
    expect(checksum({})).to.equal(checksum({ replicas: 3 }));
    expect(checksum({})).not.to.equal(checksum({ config: { limits: { activeRuns: 10 } } }));
  });

  it("scales on active runs, is scraped with a key, and connects only where configured", () => {
    const all = resources({
      autoscaling: { enabled: true, activeRuns: 50 },
      serviceMonitor: { enabled: true, bearer: { secret: "scrape" } },
      networkPolicy: { from: [{ podSelector: {} }], to: [{ ipBlock: { cidr: "10.0.0.0/8" } }] },
      ingress: { enabled: true, host: "agents.example.com" },
      secrets: { values: { VENTURI_KEY_SHA256: "c".repeat(64) } },
    });
    expect(all.get("Deployment")?.spec).not.to.have.property("replicas");
    const [metric] = all.get("HorizontalPodAutoscaler")?.spec.metrics ?? [];
    expect(metric.pods).to.deep.equal({
      metric: { name: "venturi_runs_active" },
      target: { type: "AverageValue", averageValue: "50" },
    });
    expect(all.get("ServiceMonitor")?.spec.endpoints[0].authorization.credentials).to.deep.equal({
      name: "scrape",
      key: "token",
    });
    const { ingress, egress } = all.get("NetworkPolicy")?.spec ?? {};
    expect(ingress[0].from).to.deep.equal([{ podSelector: {} }]);
    expect(egress[1].to).to.deep.equal([{ ipBlock: { cidr: "10.0.0.0/8" } }]);
    const [container] = all.get("Deployment")?.spec.template.spec.containers ?? [];
    expect(container.envFrom[0].secretRef).to.deep.equal({ name: all.get("Secret")?.metadata.name, optional: false });
    expect(all.get("Ingress")?.spec.rules[0].host).to.equal("agents.example.com");
  });

  it("has the alerts as a PrometheusRule, unchanged", () => {
    const rule = resources({ prometheusRule: { enabled: true, labels: { release: "mine" } } }).get("PrometheusRule");
    expect(rule?.metadata.labels).to.include({ release: "mine" });
    expect(rule?.spec).to.deep.equal(parse(readFileSync("deploy/prometheus/alerts.yaml", "utf8")));
  });

  it("one replica on SQLite keeps its file, and is stopped before the next one starts", () => {
    const all = resources({
      replicas: 1,
      persistence: { enabled: true },
      config: { journal: { type: "sqlite", url: null, path: "/app/data/venturi.db" } },
    });
    expect(all.get("PersistentVolumeClaim")?.metadata.annotations).to.deep.equal({
      "helm.sh/resource-policy": "keep",
    });
    expect(all.get("Deployment")?.spec.strategy).to.deep.equal({ type: "Recreate" });
  });

  it("refuses what cannot work, and says why", () => {
    const sqlite = { journal: { type: "sqlite", url: null } };
    expect(refused({ config: sqlite })).to.contain("2 replicas cannot share a sqlite journal");
    expect(refused({ config: { journal: { type: "memory" } }, autoscaling: { enabled: true } })).to.contain(
      "10 replicas cannot share a memory journal",
    );
    expect(refused({ replicas: 1, config: sqlite })).to.contain("persistence.enabled");
    expect(refused({ config: { server: { auth: null } } })).to.contain("config.server.auth");
    expect(refused({ config: { limits: { drain: "60s" } } })).to.contain("drainSeconds is 25");
    expect(refused({ serviceMonitor: { enabled: true } })).to.contain("serviceMonitor.bearer.secret");
    expect(refused({ replicas: 0 })).to.contain("replicas");
  });
});

describe("the chart's templates, without helm", () => {
  const template = (name: string) => readFileSync(`${chart}/templates/${name}`, "utf8");

  it("kill no pod while the database is down: only readiness asks for the journal", () => {
    const probes = [...template("deployment.yaml").matchAll(/(\w+)Probe:\n +httpGet: \{ path: (\/\w+),/g)];
    expect(Object.fromEntries(probes.map(([, probe, path]) => [probe, path]))).to.deep.equal({
      startup: "/livez",
      readiness: "/readyz",
      liveness: "/livez",
    });
  });

  it("have the alerts that promtool checks as their PrometheusRule", () => {
    const rule = template("prometheusrule.yaml");
    expect(rule).to.contain("\nkind: PrometheusRule\n").and.to.contain('.Files.Get "files/alerts.yaml"');
    const file = (path: string) => readFileSync(path, "utf8");
    expect(file(`${chart}/files/alerts.yaml`)).to.equal(file("deploy/prometheus/alerts.yaml"));
  });
});
