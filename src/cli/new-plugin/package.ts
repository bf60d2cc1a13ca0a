import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PluginKind } from "../../core/ports/plugin.ts";

/** File contents by path within the plugin's folder. */
type PluginFiles = Readonly<Record<string, string>>;

const sections: Readonly<Record<PluginKind, (name: string) => string>> = {
  provider: (name) => `providers:\n  mine: { type: ${name} }`,
  tool: (name) => `tools:\n  mine: { type: ${name} }`,
  channel: (name) => `channels:\n  mine: { type: ${name} }`,
  journal: (name) => `journal: { type: ${name} }`,
  memory: (name) => `memories:\n  mine: { type: ${name} }`,
  guard: (name) => `guards:\n  mine: { type: ${name}, output: redact }`,
};

/** A package for a plugin of this kind: what every one has, and the program and its test in examples/plugins/new. */
export function pluginFiles(name: string, kind: PluginKind): PluginFiles {
  const folder = join(root, "examples/plugins/new", kind);
  const program = readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    return [file, text.replaceAll("my-plugin", name)] as const;
  });
  return { ...packageFiles(name, kind), ...Object.fromEntries(program) };
}

function packageFiles(name: string, kind: PluginKind): PluginFiles {
  const { version, dependencies, peerDependencies, devDependencies } = ownPackage();
  // A published Venturi bundles it and leaves the types to channel authors.
  const fastify = dependencies.fastify ?? peerDependencies.fastify;
  const description = {
    name: `venturi-${kind}-${name}`,
    version: "0.1.0",
    type: "module",
    exports: "./dist/index.js",
    scripts: { build: "tsc", test: "tsc && mocha --timeout 60000 'dist/**/*.test.js'" },
    peerDependencies: { venturi: `^${version}`, zod: `^${dependencies.zod}` },
    devDependencies: {
      "@types/mocha": devDependencies["@types/mocha"],
      "@types/node": devDependencies["@types/node"],
      ...(kind === "channel" ? { fastify } : {}),
      mocha: devDependencies.mocha,
      typescript: devDependencies.typescript,
      // The path of this Venturi: a checkout may be ahead of the published version, or none is published.
      venturi: `file:${root}`,
      zod: dependencies.zod,
    },
  };
  const compilerOptions = {
    target: "es2024",
    module: "nodenext",
    outDir: "dist",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    rewriteRelativeImportExtensions: true,
    types: ["node", "mocha"],
  };
  return {
    "package.json": json(description),
    "tsconfig.json": json({ compilerOptions, include: ["*.ts"] }),
    "README.md": readme(name, kind),
  };
}

const readme = (name: string, kind: PluginKind): string => `# ${name}

A ${kind} plugin for Venturi. \`npm install && npm test\` builds it and runs its tests.

In the configuration:

\`\`\`yaml
plugins: ["./${name}"]   # this folder, or the name of the package once it is installed
${sections[kind](name)}
\`\`\`
`;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

interface OwnPackage {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** A new plugin starts with the same versions this Venturi is built and tested with. */
const ownPackage = (): OwnPackage => JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as OwnPackage; // Our own file.
