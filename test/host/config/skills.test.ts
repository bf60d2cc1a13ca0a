import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, renameSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import type { VenturiError } from "../../../src/core/errors/errors.ts";
import { type Config, loadConfig } from "../../../src/host/config/load.ts";
import { preamble, testFolder } from "../folder.ts";

const base = (skills = "[./skills/*]") =>
  `${preamble}providers: { p: { type: sample-provider } }\nagents:\n  one:\n    model: p/m\n    skills: ${skills}\n`;
const skill = (name: string, more = "", body = "Do it.") =>
  `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}\n`;

describe("skills in the configuration", () => {
  const folder = testFolder();
  const load = (files: Record<string, string>, skills?: string): Promise<Config> =>
    loadConfig({ file: folder.write({ "venturi.yaml": base(skills), ...files }), env: {} });
  const lines = async (files: Record<string, string>, skills?: string): Promise<string[]> => {
    const error = await load(files, skills).then(
      () => expect.fail("it was accepted"),
      (thrown: VenturiError) => thrown,
    );
    expect(error.code).to.equal("config_invalid");
    return error.message.replaceAll(folder.path("/"), "").split("\n");
  };

  it("are read with all their files and sorted by name; the hash changes with any file", async () => {
    const files = {
      "skills/zebra/SKILL.md": skill(
        "zebra",
        "license: MIT\ncompatibility: Needs git\nmetadata: { version: 1.0 }\nallowed-tools: Bash(git:*)\nmodel: opus\n",
      ),
      "skills/pdf/SKILL.md": `\uFEFF${skill("pdf").replaceAll("\n", "\r\n")}`,
      "skills/pdf/references/forms.md": "Forms",
      "skills/README.md": "not a skill",
    };
    const first = await load(files);
    const own = first.skills.get("one") ?? [];
    expect(own.map(({ name, description, body }) => [name, description, body])).to.deep.equal([
      ["pdf", "About pdf.", "Do it."],
      ["zebra", "About zebra.", "Do it."],
    ]);
    expect([...(own[0]?.files.keys() ?? [])]).to.deep.equal(["SKILL.md", "references/forms.md"]);
    expect(own.map(({ hash }) => hash.length)).to.deep.equal([64, 64]);
    const same = await load(files);
    expect([same.hash, same.skills.get("one")?.[0]?.hash]).to.deep.equal([first.hash, own[0]?.hash]);
    const changed = await load({ ...files, "skills/pdf/references/forms.md": "Form5" });
    expect(changed.skills.get("one")?.[0]?.hash).to.not.equal(own[0]?.hash);
    expect(changed.skills.get("one")?.[1]?.hash).to.equal(own[1]?.hash);
    expect(changed.hash).to.not.equal(first.hash);
    renameSync(folder.path("skills/pdf/references/forms.md"), folder.path("skills/pdf/references/form5.md"));
    const renamed = await loadConfig({ file: folder.path("venturi.yaml"), env: {} });
    expect(renamed.skills.get("one")?.[0]?.hash).to.not.equal(changed.skills.get("one")?.[0]?.hash);
  });

  const at = "skills/pdf/SKILL.md";
  const bad: Record<string, readonly [text: string, line: string]> = {
    "no name": ["---\ndescription: Some.\n---\n", `${at}:2:1 name: this key is required`],
    "no description": ["---\nname: pdf\n---\n", `${at}:2:1 description: this key is required`],
    "an empty description": [
      '---\nname: pdf\ndescription: "  "\n---\n',
      `${at}:3:14 description: a skill needs a description: the model chooses by it`,
    ],
    "a long description": [
      `---\nname: pdf\ndescription: ${"x".repeat(1_025)}\n---\n`,
      `${at}:3:14 description: the description has 1025 characters; at most 1024 are allowed`,
    ],
    "a control character in the description": [
      '---\nname: pdf\ndescription: "a\\u001b[2Jb"\n---\n',
      `${at}:3:14 description: the description has a control character in it`,
    ],
    "a name in capitals": [skill("PDF"), `${at}:2:7 name: "PDF" is no name of a skill; use a to z, 0 to 9 and "-"`],
    "a control character in the name": [
      '---\nname: "pdf\\n- evil"\ndescription: d\n---\n',
      `${at}:2:7 name: "pdf\\n- evil" is no name of a skill; use a to z, 0 to 9 and "-"`,
    ],
    "a hyphen first": [skill("-pdf"), `${at}:2:7 name: a name neither begins nor ends with "-"`],
    "two hyphens": [skill("p--df"), `${at}:2:7 name: a name has no two "-" in a row`],
    "a long name": [skill("p".repeat(65)), `${at}:2:7 name: the name has 65 characters; at most 64 are allowed`],
    "an empty name": ['---\nname: ""\ndescription: d\n---\n', `${at}:2:7 name: a skill needs a name`],
    "a number for a name": ["---\nname: 5\ndescription: d\n---\n", `${at}:2:7 name: expected `],
    "another name than the folder": [
      skill("pdfs"),
      `${at}:2:7 name: the name is not that of the folder, "pdf"; give both the same one`,
    ],
    "a long compatibility": [skill("pdf", `compatibility: ${"x".repeat(501)}\n`), `${at}:4:16 compatibility: `],
    "nested metadata": [skill("pdf", "metadata: { a: { b: c } }\n"), `${at}:4:16 metadata.a: `],
    "a key twice": [skill("pdf", "name: pdf\n"), `${at}:4:1: this key is already set above`],
    "broken YAML": ["---\nname: [pdf\ndescription: d\n---\n", `${at}:3:1: not valid YAML: `],
    "no frontmatter": [
      "# PDF\n",
      `${at}:1:1: SKILL.md begins with frontmatter: a line "---", \`name:\` and \`description:\`, a line "---"`,
    ],
    "nothing at all": ["", `${at}:1:1: SKILL.md begins with frontmatter: `],
    "no end of the frontmatter": ["---\nname: pdf\n", `${at}:1:1: the frontmatter has no end: a second line "---"`],
    "a list for frontmatter": ["---\n- name\n---\n", `${at}:2:1: expected keys and values`],
    "a frontmatter without end": [
      `---\nname: pdf\n${"# x\n".repeat(10_000)}`,
      `${at}:1:1: the frontmatter has more than 16384 characters`,
    ],
    "a prototype for a key": [
      skill("pdf", "__proto__: { x: 1 }\n"),
      `${at}:4:1 __proto__: this name can't be used as a key`,
    ],
    "deep nesting": [skill("pdf", `metadata: ${"[".repeat(8_000)}${"]".repeat(8_000)}\n`), at],
    "aliases of aliases": [
      skill(
        "pdf",
        `a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(", ")}]\n`).join("")}`,
      ),
      "more than 100000 values once its aliases are followed; write fewer aliases",
    ],
    "an alias of itself": [skill("pdf", "a: &a [*a]\n"), at],
    "an alias of nothing": [skill("pdf", "a: *b\n"), at],
  };
  for (const [what, [text, line]] of Object.entries(bad)) {
    it(`${what} is reported with file, line and column`, async () => {
      const told = await lines({ [at]: text });
      expect(told.join("\n")).to.contain(line);
      if (line.endsWith("required")) expect(told).to.deep.equal([line]);
    });
  }

  it("mistakes of several skills are reported together, each once, whoever has them", async () => {
    const file = folder.write({
      "venturi.yaml": `${base()}  two: { model: p/m, skills: [./skills/*] }\n`,
      "skills/a/SKILL.md": "---\ndescription: d\n---\n",
      "skills/b/SKILL.md": "---\ndescription: d\n---\n",
    });
    const error = await loadConfig({ file, env: {} }).catch((thrown: VenturiError) => thrown as VenturiError);
    expect(
      String((error as VenturiError).message)
        .replaceAll(folder.path("/"), "")
        .split("\n"),
    ).to.deep.equal([
      "skills/a/SKILL.md:2:1 name: this key is required",
      "skills/b/SKILL.md:2:1 name: this key is required",
    ]);
  });

  it("two skills of one name are one too many for an agent, and fine for two agents", async () => {
    const files = { "skills/pdf/SKILL.md": skill("pdf"), "more/pdf/SKILL.md": skill("pdf") };
    expect(await lines(files, "[./skills/*, ./more/pdf]")).to.deep.equal([
      'more/pdf/SKILL.md:2:7 name: the agent has a skill "pdf" already, at skills/pdf/SKILL.md:2:7',
    ]);
    expect((await load(files, "[./skills/*, ./skills/pdf]")).skills.get("one")).to.have.length(1);
  });

  it("a pattern that matches nothing, a missing folder, a file, one without SKILL.md are reported where they are named", async () => {
    const where = "venturi.yaml:9:14 agents.one.skills[0]:";
    expect(await lines({}, "[./skils/*]")).to.deep.equal([`${where} "./skils/*" matches no folder`]);
    expect(await lines({ "skills/README.md": "x" })).to.deep.equal([`${where} "./skills/*" matches no folder`]);
    expect(await lines({}, "[./nowhere]")).to.deep.equal([`${where} nowhere does not exist`]);
    expect(await lines({ "notes/README.md": "x" }, "[./notes]")).to.deep.equal([
      `${where} notes is no skill: it has no SKILL.md`,
    ]);
    const told = await lines({ "notes/SKILL.md": skill("notes") }, "[./notes/SKILL.md]");
    expect(told).to.deep.equal([`${where} notes/SKILL.md is not a folder; name the folder that has the SKILL.md`]);
    expect((await lines({}, "[5]"))[0]).to.contain("agents.one.skills[0]: expected a text");
    expect((await lines({}, "./skills/*"))[0]).to.contain("agents.one.skills: expected a list");
  });

  describe("what leaves its folder, or is no plain file, is refused", () => {
    const where = "venturi.yaml:9:14 agents.one.skills[0]: skills/pdf is no skill:";
    const told = async (make: () => void): Promise<string[]> => {
      folder.write({ [at]: skill("pdf"), "outside/secret.txt": "secret" });
      make();
      return await lines({});
    };
    const cases: Record<string, readonly [make: () => void, said: string]> = {
      "a link to a file": [
        () => symlinkSync("../../outside/secret.txt", folder.path("skills/pdf/x.md")),
        "x.md is a link; links are not followed",
      ],
      "a link to a folder": [
        () => symlinkSync("../../outside", folder.path("skills/pdf/refs")),
        "refs is a link; links are not followed",
      ],
      "a link inside": [
        () => symlinkSync("SKILL.md", folder.path("skills/pdf/y.md")),
        "y.md is a link; links are not followed",
      ],
      "a link to nothing": [
        () => symlinkSync("nowhere", folder.path("skills/pdf/z")),
        "z is a link; links are not followed",
      ],
      "a link that loops": [
        () => symlinkSync("loop", folder.path("skills/pdf/loop")),
        "loop is a link; links are not followed",
      ],
      "a named pipe": [
        () => void execFileSync("mkfifo", [folder.path("skills/pdf/pipe")]),
        "pipe is neither a file nor a folder",
      ],
      "a name with a control character": [
        () => writeFileSync(folder.path("skills/pdf/a\nb"), "x"),
        '"a\\nb": the name has a control character in it',
      ],
      "a huge file": [
        () => {
          writeFileSync(folder.path("skills/pdf/huge"), "");
          truncateSync(folder.path("skills/pdf/huge"), 2 ** 40);
        },
        "its files have more than 64 MiB",
      ],
      "deep folders": [
        () => void mkdirSync(folder.path(`skills/pdf/${"d/".repeat(12)}`), { recursive: true }),
        "folders are nested more than 10 deep",
      ],
      "a thousand files": [
        () => {
          for (let n = 0; n < 1_000; n++) writeFileSync(folder.path(`skills/pdf/${n}`), "");
        },
        "there are more than 1000 files",
      ],
      "a SKILL.md that is a pipe": [
        () => {
          renameSync(folder.path(at), folder.path("skills/pdf/old.md"));
          execFileSync("mkfifo", [folder.path(at)]);
        },
        "SKILL.md is neither a file nor a folder",
      ],
      "a SKILL.md that is a folder": [
        () => {
          renameSync(folder.path(at), folder.path("skills/pdf/old.md"));
          mkdirSync(folder.path(at));
        },
        "it has no SKILL.md",
      ],
      "a binary SKILL.md": [
        () => writeFileSync(folder.path(at), Buffer.from([0x2d, 0, 0xff])),
        "SKILL.md is not UTF-8 text",
      ],
    };
    for (const [what, [make, said]] of Object.entries(cases)) {
      it(what, async () => {
        const [line = "", ...others] = await told(make);
        expect(line.startsWith(where), line).to.equal(true);
        expect(line).to.contain(said);
        expect(others).to.deep.equal([]);
      });
    }

    it("a folder of the pattern that is a link itself", async () => {
      folder.write({ "outside/pdf/SKILL.md": skill("pdf"), "skills/a/SKILL.md": skill("a") });
      symlinkSync("../outside/pdf", folder.path("skills/pdf"));
      expect(await lines({})).to.deep.equal([
        "venturi.yaml:9:14 agents.one.skills[0]: skills/pdf is a link; links are not followed",
      ]);
    });
  });

  it("a clone's history is passed over; secrets and binaries are hashed and not kept", async () => {
    folder.write({
      [at]: skill("pdf"),
      "skills/pdf/.git/config": "x",
      "skills/pdf/.env": "KEY=1",
      "skills/pdf/big.txt": "x".repeat(1_048_577),
    });
    writeFileSync(folder.path("skills/pdf/logo.png"), Buffer.from([0x89, 0x50, 0]));
    linkSync(folder.path(at), folder.path("skills/pdf/copy.md")); // a hard link is a file like any other
    const { skills } = await load({});
    const files = skills.get("one")?.[0]?.files;
    expect([...(files?.keys() ?? [])]).to.deep.equal([".env", "SKILL.md", "big.txt", "copy.md", "logo.png"]);
    expect(files?.get(".env")).to.deep.equal({ size: 5, unread: "denied" });
    expect(files?.get("big.txt")).to.deep.equal({ size: 1_048_577, unread: "large" });
    expect(files?.get("logo.png")).to.deep.equal({ size: 3, unread: "binary" });
  });
});
