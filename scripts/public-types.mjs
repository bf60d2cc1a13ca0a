// The declarations that users of each face can name, as one text per face: the face itself and every file it re-exports from,
// without comments; a file that an earlier face has already shown is only named. `npm run generate` writes them, a test compares, so a change of the public types shows in the diff.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

export function publicTypes(root) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const files = {};
  /** File → the face that shows it. */
  const shown = new Map();
  for (const [face, { types }] of Object.entries(exports)) {
    if (types === undefined) continue;
    const name = face === "." ? "venturi" : face.slice(2).replaceAll("/", "-");
    files[`test/public-types/${name}.d.ts.txt`] = declarationsOf({ root, name, shown }, normalize(types));
  }
  return files;
}

function declarationsOf({ root, name, shown }, face) {
  const texts = [];
  const visit = (file) => {
    const by = shown.get(file);
    if (by === name || !existsSync(join(root, file))) return;
    if (by !== undefined) {
      const line = `// ${relative("dist", file)}: see ${by}\n`;
      if (!texts.includes(line)) texts.push(line);
      return;
    }
    shown.set(file, name);
    const text = readFileSync(join(root, file), "utf8")
      .replace(/\/\*[\s\S]*?\*\//g, "")
      .replace(/^\/\/.*$/gm, "")
      .replace(/^\s*\n/gm, "");
    texts.push(`// ${relative("dist", file)}\n${text}`);
    for (const [, specifier] of text.matchAll(/^export .*? from "(\.[^"]+)"/gm)) {
      visit(normalize(join(dirname(file), specifier.replace(/(?:\.d)?\.(?:js|ts)$/, ".d.ts"))));
    }
  };
  visit(face);
  return texts.join("\n");
}
