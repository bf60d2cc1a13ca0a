import { expect } from "chai";
import fc from "fast-check";
import { addRow, type EventRow, lineOf } from "../../../plugins/channel-console/web/fold/event-rows.ts";
import { emptyView, fold, foldAll } from "../../../plugins/channel-console/web/fold/fold.ts";
import { scaleOf } from "../../../plugins/channel-console/web/fold/scale.ts";
import { Snapshots } from "../../../plugins/channel-console/web/fold/snapshots.ts";
import type { RunView } from "../../../plugins/channel-console/web/fold/view.ts";
import { rowsOf } from "../../../plugins/channel-console/web/fold/waterfall.ts";
import { anyEvents } from "./events.ts";

const comparable = ({ times, calls, ...view }: RunView) => ({
  ...view,
  calls: [...calls.values()],
  segments: times.segments,
  now: times.now,
});

describe("the console's fold", () => {
  it("is the same wherever the events were cut, and however many arrived twice", () => {
    fc.assert(
      fc.property(anyEvents, fc.nat(60), fc.nat(60), (events, cut, back) => {
        const view = emptyView("run_1");
        for (const event of events.slice(0, cut)) fold(view, event);
        for (const event of events.slice(Math.max(0, cut - back))) fold(view, event);
        expect(comparable(view)).to.deep.equal(comparable(foldAll("run_1", events)));
      }),
    );
  });

  it("never throws, whatever the order, and its rows can be drawn", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const view = foldAll("run_1", events);
        for (const { bars, from } of rowsOf(view)) {
          expect(Number.isFinite(from)).to.equal(true);
          for (const bar of bars) expect(Number.isFinite(bar.from)).to.equal(true);
        }
        const rows: EventRow[] = [];
        for (const event of events) addRow(rows, event);
        expect(rows.reduce((sum, { count }) => sum + count, 0)).to.equal(events.length);
        for (const event of events) expect(lineOf(event)).to.be.a("string");
      }),
    );
  });

  it("charges each millisecond to exactly one part", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const { times } = foldAll("run_1", events);
        const total = Object.values(times.totals()).reduce((sum, ms) => sum + ms, 0);
        expect(total).to.equal((events.at(-1)?.at ?? 0) - (events[0]?.at ?? 0));
        for (const [index, segment] of times.segments.entries()) {
          expect(segment.to).to.be.greaterThan(segment.from);
          if (index > 0) expect(segment.from).to.equal(times.segments[index - 1]?.to);
        }
      }),
    );
  });

  it("goes to any event from any other, by way of snapshots, and finds what a fold from the start finds", () => {
    fc.assert(
      fc.property(
        anyEvents,
        fc.array(fc.nat(60), { maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        (events, seeks, distance) => {
          const snapshots = new Snapshots(distance);
          const whole = emptyView("run_1");
          for (const event of events) {
            fold(whole, event);
            snapshots.note(whole);
          }
          const kept = structuredClone(comparable(whole));
          let from: RunView | undefined;
          for (const seek of seeks) {
            const at = Math.min(events.length, seek + 1);
            from = snapshots.at("run_1", at, { events, from });
            expect(comparable(from)).to.deep.equal(comparable(foldAll("run_1", events, at)));
          }
          expect(comparable(whole)).to.deep.equal(kept);
        },
      ),
    );
  });

  it("shows the run as it was at an event", () => {
    fc.assert(
      fc.property(anyEvents, fc.nat(60), (events, at) => {
        expect(comparable(foldAll("run_1", events, at))).to.deep.equal(
          comparable(foldAll("run_1", events.slice(0, at))),
        );
      }),
    );
  });

  it("a time scale is monotonic from 0 to 1, also over waits that it shortens", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom("approval", "stream", "tool"), fc.integer({ min: 1, max: 1e7 })), {
          minLength: 1,
          maxLength: 12,
        }),
        (parts) => {
          let at = 5;
          const segments = parts.map(([part, ms]) => {
            const from = at;
            at += ms;
            return { part: part as "approval", name: "", from, to: at };
          });
          const scale = scaleOf(segments, 5, at);
          expect(scale.x(5)).to.equal(0);
          expect(scale.x(at)).to.be.closeTo(1, 1e-9);
          let before = 0;
          for (const { to } of segments) {
            const x = scale.x(to);
            expect(x).to.be.at.least(before - 1e-12);
            before = x;
          }
        },
      ),
    );
  });
});
