import { definePlugin, type Journal } from "venturi/plugin";
import { z } from "zod";
import { kept } from "./kept.ts";

/** Keeps nothing; enough for what the house does with a journal. */
class EmptyJournal implements Journal {
  readonly lease = 10_000;
  append = async () => new Set<never>();
  read = async () => [];
  readMany = async () => new Map();
  onHint = () => () => {};
  enqueue = async ({ run }: { run: string }) => ({ run, existing: false });
  claim = async () => [];
  heartbeat = async () => {};
  held = async () => [];
  release = async () => {};
  signal = async () => false;
  signals = async () => [];
  signalsMany = async () => new Map();
  get = async () => undefined;
  list = async () => ({ runs: [] });
  restore = async () => {};
  prune = async () => 0;
  audit = async () => {};
  audits = async () => ({ records: [] });
  ping = async () => {};
  close = async () => void kept.push("close journal");
}

export default definePlugin({
  name: "sample-journal",
  kind: "journal",
  options: z.strictObject({ path: z.string().optional() }),
  create() {
    kept.push("open journal");
    return new EmptyJournal();
  },
});
