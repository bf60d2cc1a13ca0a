import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { codes } from "../src/core/errors/codes.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const sources = (pattern: string): string[] =>
  globSync(pattern, { cwd: root, exclude: (name) => name === "node_modules" }).sort();

/** Everything a file imports: relative ones as paths from the top, packages by name. */
function importsOf(file: string, kind: "all" | "static" = "all"): string[] {
  const text = read(file).replaceAll(/`(?:\\.|[^`\\])*`/gs, "``");
  const found = text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"|\bimport\s*\(?\s*"([^"]+)"/g);
  return [...found]
    .filter(([whole]) => kind === "all" || !/\bimport\s*\(/.test(whole))
    .map(([, named, bare]) => {
      const specifier = named ?? bare ?? "";
      return specifier.startsWith(".") ? normalize(join(dirname(file), specifier)) : specifier;
    });
}

/** What each part may import from the others; nothing points the other way. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  "src/core/": ["src/core/"],
  "src/provider/": ["src/provider/", "src/core/"],
  "src/serve/": ["src/serve/", "src/core/"],
  "src/agent/": ["src/agent/", "src/provider/", "src/core/"],
  "src/journal/": ["src/journal/", "src/core/"],
  "src/telemetry/": ["src/telemetry/", "src/core/"],
  "src/plugin.ts": ["src/core/", "src/provider/", "src/serve/"],
  "src/plugin-provider.ts": ["src/core/", "src/provider/"],
  "src/plugin-channel.ts": ["src/core/", "src/serve/"],
  "src/internal-fold.ts": ["src/core/run/"],
  "src/internal.ts": ["src/plugin.ts", "src/core/", "src/provider/", "src/serve/", "src/agent/schema/"],
  "src/testing.ts": ["src/testing/"],
  "src/testing/": ["src/testing/", "src/plugin.ts", "src/index.ts", "src/provider/", "src/core/"],
  "src/evals/": ["src/evals/", "src/agent/", "src/journal/", "src/core/"],
  "src/host/": [
    "src/host/",
    "src/evals/",
    "src/telemetry/",
    "src/journal/",
    "src/agent/",
    "src/serve/",
    "src/provider/",
    "src/core/",
  ],
  "src/library/": ["src/library/", "src/host/", "src/telemetry/", "src/agent/", "src/serve/", "src/core/"],
  "src/client/": ["src/client/", "src/core/run/", "src/core/model/"],
  "src/react/": ["src/react/", "src/client/"],
  "src/doors/": ["src/", "plugins/simulator/server.ts"],
  "src/cli/": ["src/cli/", "src/evals/", "src/library/", "src/host/", "src/serve/", "src/provider/", "src/core/"],
};

const violations = (files: readonly string[], allowed: (file: string, imported: string) => boolean): string[] =>
  files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => !allowed(file, imported))
      .map((imported) => `${file} imports ${imported}`),
  );

/** Each group of files that can all reach each other (Tarjan's strongly connected components). */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): void => {
    const place = index.size;
    index.set(file, place);
    low.set(file, place);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(file) !== place) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) found.push(group.sort().join(" ↔ "));
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return found.sort();
}

describe("the house", () => {
  it("the reader of imports sees every form", () => {
    const seen = importsOf("src/cli/main.ts");
    expect(seen).to.include.members(["commander", "src/core/errors/errors.ts", "src/cli/validate.ts"]);
    expect(importsOf("src/host/container.ts")).to.include("reflect-metadata");
    expect(importsOf("src/plugin.ts")).to.include("src/core/errors/errors.ts");
    expect(importsOf("src/plugin-channel.ts")).to.include("fastify");
  });

  it("every part of src has its place in the order", () => {
    const parts = sources("src/**/*.ts").filter((file) => !Object.keys(arrows).some((part) => file.startsWith(part)));
    expect(parts).to.deep.equal(["src/index.ts"]);
  });

  for (const [part, targets] of Object.entries(arrows)) {
    it(`${part} imports nothing but ${targets.join(", ")} from the house`, () => {
      const files = part.endsWith(".ts") ? [part] : sources(`${part}**/*.ts`);
      const isAllowed = (_file: string, imported: string) =>
        !/^(?:src|plugins|test|dist)\//.test(imported) || targets.some((target) => imported.startsWith(target));
      expect(violations(files, isAllowed)).to.deep.equal([]);
    });
  }

  it("no file imports itself by way of others, types included", () => {
    const files = [...sources("src/**/*.ts"), ...sources("plugins/**/*.ts")];
    // A module that is loaded when it is needed is no part of a circle of loading.
    const loaded = (file: string) => importsOf(file, "static").filter((imported) => files.includes(imported));
    const graph = new Map(files.map((file) => [file, loaded(file)]));
    expect(circlesIn(graph)).to.deep.equal([]);
  });

  it("folders of a room form an order too: none can reach itself by way of others, types included", () => {
    const folders = new Map<string, string[]>();
    for (const file of sources("src/**/*.ts")) {
      const near = importsOf(file).filter((imported) =>
        imported.startsWith(`${file.split("/").slice(0, 2).join("/")}/`),
      );
      const others = near.map((imported) => dirname(imported)).filter((folder) => folder !== dirname(file));
      folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), ...others]);
    }
    expect(folders.size).to.be.greaterThan(40);
    expect(circlesIn(folders)).to.deep.equal([]);
  });

  it("the core needs zod and nothing else", () => {
    const isAllowed = (_file: string, imported: string) =>
      imported === "zod" || imported.startsWith("src/core/") || imported.startsWith("node:");
    expect(violations(sources("src/core/**/*.ts"), isAllowed)).to.deep.equal([]);
  });

  it("the client needs nothing but itself, and how a run's time is computed, which needs nothing", () => {
    const times = ["src/core/run/run-times.ts", "src/core/run/time-parts.ts"];
    expect(times.flatMap((file) => importsOf(file)).filter((imported) => !times.includes(imported))).to.deep.equal([]);
    const isAllowed = (file: string, imported: string) =>
      imported.startsWith("src/client/") || (times.includes(imported) && file === "src/client/times.ts");
    // The events are types alone: the compiler leaves nothing of the file.
    const named = "src/client/events.ts";
    expect(read(named)).to.not.match(/^(?:import|export) (?!type\b)/m);
    expect(
      violations(
        sources("src/client/**/*.ts").filter((file) => file !== named),
        isAllowed,
      ),
    ).to.deep.equal([]);
  });

  it("the fold that browsers run loads nothing but the fold", () => {
    const loaded = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      // The compiled file: what is imported for its types alone is not in there.
      for (const imported of importsOf(file)) load(imported);
    };
    load("dist/src/internal-fold.js");
    const fold = [
      "internal-fold",
      ...["by-whom", "run-fold", "folded-run", "run-times", "time-parts"].map((name) => `core/run/${name}`),
    ];
    expect([...loaded].sort()).to.deep.equal(fold.map((name) => `dist/src/${name}.js`).sort());
  });

  it("OpenTelemetry is imported in src/telemetry alone", () => {
    const others = [...sources("src/**/*.ts"), ...sources("plugins/**/*.ts")].filter(
      (file) => !file.startsWith("src/telemetry/"),
    );
    expect(violations(others, (_file, imported) => !imported.startsWith("@opentelemetry/"))).to.deep.equal([]);
  });

  it("a plugin imports venturi/plugin, libraries and its own files", () => {
    const isAllowed = (file: string, imported: string) => {
      // A page in a browser is a client like any other.
      const face = file.startsWith("plugins/channel-console/web/")
        ? /^venturi\/(?:client(?:\/times)?|internal\/fold)$/
        : /^venturi\/(?:internal|plugin(?:\/\w+)?)$/;
      if (imported === "venturi" || imported.startsWith("venturi/")) return face.test(imported);
      const home = file.split("/").slice(0, 2).join("/");
      return !/^(?:src|plugins|test|dist)\//.test(imported) || !relative(home, imported).startsWith("..");
    };
    expect(violations(sources("plugins/**/*.{ts,tsx}"), isAllowed)).to.deep.equal([]);
  });

  it("the console's page makes no markup of a string, and gives styles as objects", () => {
    const files = sources("plugins/channel-console/web/**/*.{ts,tsx}");
    expect(files.length).to.be.greaterThan(30);
    const sinks =
      /dangerouslySetInnerHTML|\.(?:innerHTML|outerHTML|srcdoc|cssText)\b|insertAdjacentHTML|document\.write|\bnew Function\b|\beval\(|\bstyle="|\bstyle=\{`/;
    expect(files.filter((file) => sinks.test(read(file)))).to.deep.equal([]);
  });

  it("the thread of the SQLite journal loads none but its own files: with venturi/plugin its start took 250 ms", () => {
    const loaded = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      // The compiled file: what is imported for its types alone is not in there.
      if (file.startsWith("dist/")) for (const imported of importsOf(file)) load(imported);
    };
    load("dist/plugins/sqlite/thread.js");
    expect([...loaded].filter((file) => !/^(?:node:|dist\/plugins\/sqlite\/)/.test(file))).to.deep.equal([]);
    expect(loaded).to.include("dist/plugins/sqlite/store.js");
  });

  it("only the composition root registers in a container", () => {
    const users = sources("src/**/*.ts").filter((file) => importsOf(file).includes("tsyringe"));
    expect(users.filter((file) => !file.startsWith("src/host/"))).to.deep.equal([]);
    const registering = users.filter((file) => /\.register\w*\(|createChildContainer/.test(read(file)));
    expect(registering).to.deep.equal(["src/host/container.ts"]);
    for (const file of users) expect(read(file), file).not.to.match(/@(?:singleton|autoInjectable|registry)\b/);
  });

  it("every constructor parameter of an injectable names its token", () => {
    for (const file of sources("src/**/*.ts").filter((each) => read(each).includes("@injectable()"))) {
      const [, parameters = ""] = /@injectable\(\)[\s\S]*?constructor\(([\s\S]*?)\) \{/.exec(read(file)) ?? [];
      const count = parameters.split(",").filter((parameter) => parameter.trim() !== "").length;
      expect(parameters.match(/@inject\(/g)?.length ?? 0, file).to.equal(count);
    }
  });

  it("there are no barrels beyond the faces", () => {
    const faces = [
      "src/index.ts",
      "src/client/times.ts",
      "src/plugin.ts",
      "src/plugin-provider.ts",
      "src/plugin-channel.ts",
      "src/internal.ts",
      "src/internal-fold.ts",
      "src/testing.ts",
    ];
    const barrels = [...sources("src/**/*.ts"), ...sources("plugins/**/*.ts")].filter((file) => {
      const lines = read(file)
        .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "")
        .split("\n")
        .filter((line) => line.trim() !== "");
      return lines.every((line) => /^export .* from "\./.test(line));
    });
    expect(barrels.filter((file) => !faces.includes(file) && !file.startsWith("src/doors/"))).to.deep.equal([]);
  });

  it("no file is longer than 300 lines, but for generated ones", () => {
    const files = [...sources("src/**/*.ts"), ...sources("plugins/**/*.{ts,tsx}")].filter(
      (file) => !file.includes("/node_modules/") && !/^\/\/ Generated (?:by|from) /.test(read(file)),
    );
    expect(files.length).to.be.greaterThan(900);
    expect(files.filter((file) => read(file).split("\n").length - 1 > 300)).to.deep.equal([]);
  });

  it("no file is named for nothing in particular; the service itself is something", () => {
    const vague = /(?:^|[/-])(?:utils?|helpers?|common|managers?|services)(?:\.ts$|\/)|-service\.ts$/;
    expect([...sources("src/**/*.ts"), ...sources("plugins/**/*.ts")].filter((file) => vague.test(file))).to.deep.equal(
      [],
    );
  });

  it("docs/errors.md and the table of codes say the same", () => {
    const rows = [...read("docs/errors.md").matchAll(/^\| `(\w+)` +\| (\d+) +\| (\d+) +\| (yes|no) +\| (.+?) +\|/gm)];
    const documented = rows.map(([, code, status, exit, retry, meaning]) => [
      code,
      Number(status),
      Number(exit),
      retry,
      meaning,
    ]);
    const real = Object.entries(codes).map(([code, facts]) => [
      code,
      facts.status,
      facts.exit,
      facts.retryable ? "yes" : "no",
      facts.meaning,
    ]);
    expect(documented).to.deep.equal(real);
  });
});
