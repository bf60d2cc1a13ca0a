// The declarations that users of each face can name, as one text per face: the face itself and every file it re-exports from,
// without comments. `npm run generate` writes them, a test compares, so a change of the public types shows in the diff.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

export function publicTypes(root) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const files = {};
  for (const [face, { types }] of Object.entries(exports)) {
    if (types === undefined) continue;
    const name = face === "." ? "venturi" : face.slice(2).replaceAll("/", "-");
    files[`test/public-types/${name}.d.ts.txt`] = declarationsOf(root, normalize(types));
  }
  return files;
}

function declarationsOf(root, face) {
  const seen = new Set();
  const texts = [];
  const visit = (file) => {
    if (seen.has(file) || !existsSync(join(root, file))) return;
    seen.add(file);
    const text = readFileSync(join(root, file), "utf8")
      .replace(/\/\*[\s\S]*?\*\//g, "")
      .replace(/^\/\/.*$/gm, "")
      .replace(/^\s*\n/gm, "");
    texts.push(`// ${relative("dist", file)}\n${text}`);
    for (const [, specifier] of text.matchAll(/^export .*? from "(\.[^"]+)"/gm)) {
      visit(normalize(join(dirname(file), specifier.replace(/\.(?:js|ts)$/, ".d.ts"))));
    }
  };
  visit(face);
  return texts.join("\n");
}
