import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect } from "chai";
import { blocksOf, pages, root, textOf } from "./pages.ts";

describe("the pages", () => {
  it("link to files and headings that are there", () => {
    const broken = pages().flatMap((page) =>
      linksOf(page)
        .filter((link) => !isThere(page, link))
        .map((link) => `${page}: ${link}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it("say why a block is not run", () => {
    const unknown = pages()
      .flatMap(blocksOf)
      .filter(({ tag }) => !/^((run )?as \S+|run|in \S+|(not run|parsed): \S.*|)$/.test(tag));
    expect(unknown).to.deep.equal([]);
  });

  it("stay short where they promised to", () => {
    expect(textOf("ARCHITECTURE.md").split("\n").length).to.be.at.most(151);
  });
});

/** Targets of links and pictures, those in code left out. */
function linksOf(page: string): string[] {
  const text = textOf(page)
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? match[2] ?? "");
}

function isThere(page: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return true; // the web is not ours to keep whole
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : normalize(join(dirname(page), decodeURIComponent(path)));
  if (!existsSync(join(root, target))) return false;
  if (anchor === undefined || statSync(join(root, target)).isDirectory()) return true;
  return headingsOf(target).includes(anchor);
}

/** As GitHub makes anchors of headings. */
const headingsOf = (page: string): string[] =>
  [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
