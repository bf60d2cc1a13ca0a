import { expect } from "chai";
import { countersOf, sumMetrics } from "../../../src/host/processes/sum-metrics.ts";

const text = (runs: number, active: number, bucket: number) => `# HELP venturi_runs_active Runs \\"under way\\"
# TYPE venturi_runs_active gauge
venturi_runs_active ${active}
# HELP nodejs_eventloop_delay_p99_seconds Delay
# TYPE nodejs_eventloop_delay_p99_seconds gauge
# UNIT nodejs_eventloop_delay_p99_seconds seconds
nodejs_eventloop_delay_p99_seconds ${active / 100}
# HELP venturi_runs Runs
# TYPE venturi_runs counter
venturi_runs_total{agent="a } b \\" # c",outcome="ok"} ${runs}
# HELP wait_seconds Wait
# TYPE wait_seconds histogram
wait_seconds_bucket{le="1"} ${bucket} # {trace_id="${runs}"} 0.5 1
wait_seconds_bucket{le="+Inf"} ${bucket}
wait_seconds_sum ${bucket / 2}
wait_seconds_count ${bucket}
# EOF
`;

describe("metrics of several processes", () => {
  it("equal series are added, a delay is the largest, and an exemplar stays", () => {
    const expected = text(7, 3, 5.5)
      .replace(/p99_seconds 0\.03/, "p99_seconds 0.02")
      .replace('"7"', '"4"');
    expect(sumMetrics([text(3, 2, 5), text(4, 1, 0.5)])).to.equal(expected);
  });

  it("in Prometheus' format counters are named in full, and there are no units, exemplars or end", () => {
    const plain = sumMetrics([text(3, 2, 5)], "prometheus");
    expect(plain).to.contain('# HELP venturi_runs_active Runs "under way"\n');
    expect(plain).to.contain(
      '# TYPE venturi_runs_total counter\nventuri_runs_total{agent="a } b \\" # c",outcome="ok"} 3\n',
    );
    expect(plain).to.contain('wait_seconds_bucket{le="1"} 5\n');
    expect(plain).not.to.match(/UNIT|EOF|trace_id/);
  });

  it("a series that only one process has is kept", () => {
    const other = '# TYPE venturi_runs counter\nventuri_runs_total{agent="x",outcome="ok"} 2\n# EOF\n';
    const sum = sumMetrics([text(1, 0, 0), other]);
    expect(sum).to.contain('outcome="ok"} 1\nventuri_runs_total{agent="x",outcome="ok"} 2\n');
    expect(sum.match(/# TYPE venturi_runs counter/g)).to.have.length(1);
    expect(sum.match(/# EOF/g)).to.have.length(1);
  });

  it("of a process that ended, what only grows stays in the sum", () => {
    const past = countersOf(text(3, 2, 5));
    expect(past).to.contain("venturi_runs_total").and.to.contain("wait_seconds_bucket");
    expect(past).not.to.contain("venturi_runs_active");
    expect(sumMetrics([past, text(0, 1, 0)]))
      .to.contain("venturi_runs_active 1")
      .and.to.contain('outcome="ok"} 3');
  });

  it("empty texts add nothing", () => {
    expect(sumMetrics(["", text(1, 1, 1), ""])).to.equal(text(1, 1, 1));
    expect(sumMetrics([], "prometheus")).to.equal("");
  });
});
