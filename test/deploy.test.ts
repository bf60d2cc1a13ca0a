import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";

const pinned = /^\S+:[\w.-]*\d[\w.-]*@sha256:[0-9a-f]{64}$/;

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  volumes?: string[];
  environment?: Record<string, string>;
  stop_grace_period?: string;
}
const compose = parse(readFileSync("compose.yaml", "utf8"), { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const sandboxed = parse(readFileSync("deploy/compose.sandbox.yaml", "utf8")) as typeof compose;
const dockerfile = readFileSync("Dockerfile", "utf8").replace(/\\\n/g, " ").split("\n");

/** `COPY source… target` of the service, without what comes from the stage that builds. */
const copied = dockerfile
  .slice(dockerfile.findIndex((line) => line.endsWith(" AS service")))
  .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
  .map((line) => line.split(/\s+/).slice(1));

describe("the image", () => {
  it("is built from images that are named by version and digest", () => {
    const stages = dockerfile.filter((line) => line.startsWith("FROM ")).map((line) => line.split(/\s+/).slice(1));
    const named = stages.map(([, , name]) => name);
    const images = stages.flatMap(([image = ""]) => (named.includes(image) ? [] : [image]));
    expect(images).to.have.length(2);
    for (const image of images) expect(image).to.match(pinned);
  });

  it("has the compiled code of the command that it starts with", () => {
    const text = dockerfile.join("\n");
    const [, entry = "", command = ""] = /^ENTRYPOINT (\[.*\])\nCMD (\[.*\])$/m.exec(text) ?? [];
    expect(text).to.include([...JSON.parse(entry), ...JSON.parse(command)].join(" "));
    expect(text.split("FROM service").at(-1)).to.match(
      /^ENV NODE_COMPILE_CACHE=(\S+)\nCOPY --from=started \S+ \1\s*$/m,
    );
  });

  it("copies files that are there and that .dockerignore lets through", () => {
    const ignored = readFileSync(".dockerignore", "utf8").split("\n").filter(Boolean);
    const sources = dockerfile
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(sources).to.include("config");
    for (const source of sources) {
      expect(existsSync(source), source).to.equal(true);
      expect(ignored, source).not.to.include(source.split("/")[0]);
    }
  });

  it("runs as another user than root, with bubblewrap and git for the shell tool", () => {
    const text = dockerfile.join("\n");
    expect(text)
      .to.match(/^USER node$/m)
      .and.to.match(/apk add .*\bbubblewrap\b.*\bgit\b/);
  });

  it("has the configuration that compose starts it with, and that is valid there", () => {
    const app = mkdtempSync(join(tmpdir(), "venturi-image-"));
    try {
      for (const [source = "", target = ""] of copied) cpSync(source, join(app, target), { recursive: true });
      for (const built of ["package.json", "node_modules", "dist"]) symlinkSync(resolve(built), join(app, built));
      const argv = compose.services.venturi?.command ?? [];
      const config = argv[argv.indexOf("--config") + 1]?.replace("/app/", "") ?? "";
      const env = { PATH: process.env.PATH, VENTURI_LISTEN: "0.0.0.0:7070", VENTURI_KEY_SHA256: "a".repeat(64) };
      const told = spawnSync(
        process.execPath,
        ["--no-warnings", "dist/src/cli/bin.js", "validate", "--config", config],
        {
          cwd: app,
          env,
          encoding: "utf8",
        },
      );
      expect(told.stderr + told.stdout, config).to.contain("valid");
      expect(told.status).to.equal(0);
    } finally {
      rmSync(app, { recursive: true, force: true });
    }
  });
});

describe("compose.yaml", () => {
  for (const [name, service] of Object.entries(compose.services)) {
    it(`${name} is pinned, read-only, without capabilities, and reachable from this machine alone`, () => {
      if (service.build === undefined) expect(service.image).to.match(pinned);
      expect(service.read_only).to.equal(true);
      expect(service.cap_drop).to.deep.equal(["ALL"]);
      expect(service.security_opt).to.include("no-new-privileges:true");
      for (const port of service.ports ?? []) expect(port).to.match(/^127\.0\.0\.1:/);
    });

    it(`${name} mounts files that are there, and volumes that are declared`, () => {
      for (const volume of service.volumes ?? []) {
        const [source = "", , mode] = volume.split(":");
        if (!source.startsWith("./")) expect(compose.volumes).to.have.property(source);
        else {
          expect(existsSync(source), source).to.equal(true);
          expect(mode, volume).to.equal("ro");
        }
      }
    });
  }

  it("sends the service's telemetry to a collector it starts, and waits for a drain", () => {
    const { environment, stop_grace_period } = compose.services.venturi ?? {};
    const endpoint = new URL(environment?.OTEL_EXPORTER_OTLP_ENDPOINT ?? "");
    expect(compose.services).to.have.property(endpoint.hostname);
    expect(Number.parseInt(stop_grace_period ?? "", 10)).to.be.above(25);
  });

  it("the overlay for the sandbox lifts what bubblewrap needs and keeps the rest", () => {
    const lifted = ["no-new-privileges:true", "seccomp=unconfined", "apparmor=unconfined"];
    expect(sandboxed.services).to.deep.equal({ venturi: { security_opt: lifted } });
  });
});

describe("deploy/venturi.service", () => {
  const text = readFileSync("deploy/venturi.service", "utf8");
  const settings = new Map(
    text.split("\n").flatMap((line): [string, string][] => {
      const [, key = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
      return key === "" ? [] : [[key, value]];
    }),
  );

  it("starts a program and options that exist", () => {
    const words = settings.get("ExecStart")?.split(" ") ?? [];
    // Options of Node come before the program.
    const [program = "", command = "", ...options] = words.slice(words.findIndex((word) => word.endsWith(".js")));
    expect(existsSync(program)).to.equal(true);
    const help = execFileSync(process.execPath, ["--no-warnings", program, command, "--help"], { encoding: "utf8" });
    for (const option of options.filter((word) => word.startsWith("--"))) expect(help).to.contain(option);
    expect(Number(settings.get("TimeoutStopSec"))).to.be.above(25);
  });

  it("gives the service no more than it needs", () => {
    expect(settings.get("CapabilityBoundingSet")).to.equal("");
    expect(settings.get("UMask")).to.equal("0077");
    expect(settings.get("ProtectProc")).to.equal("invisible");
    expect(settings.get("ProtectSystem")).to.equal("strict");
    expect(settings.get("NoNewPrivileges")).to.equal("yes");
    expect(settings.get("SystemCallFilter")).to.match(/^@system-service\b/);
  });

  it("lets bubblewrap make the namespaces, mounts and loopback that the sandbox of the shell tool has", () => {
    expect(settings.get("RestrictNamespaces")?.split(" ")).to.have.members(
      "user mnt pid net ipc uts cgroup".split(" "),
    );
    expect(settings.get("RestrictAddressFamilies")).to.contain("AF_NETLINK");
    expect(settings.get("SystemCallFilter")).to.contain("@mount");
  });

  const analyze = spawnSync("systemd-analyze", ["security", "--help"], { encoding: "utf8" });
  const offline = analyze.stdout?.includes("--offline") ?? false;

  it(`systemd finds no fault with it and rates it below 3 of 10 (systemd-analyze is ${offline ? "here" : "not here"})`, function () {
    if (!offline) return this.skip();
    const folder = mkdtempSync(join(tmpdir(), "venturi-unit-"));
    try {
      const unit = join(folder, "venturi.service");
      writeFileSync(unit, text.replace("/usr/bin/node", process.execPath));
      const verified = spawnSync("systemd-analyze", ["verify", "--man=no", unit], { encoding: "utf8" });
      expect(verified.stderr.split("\n").filter((line) => line.includes("venturi.service"))).to.deep.equal([]);
      const rated = spawnSync("systemd-analyze", ["security", "--offline=yes", "--threshold=30", "--no-pager", unit], {
        encoding: "utf8",
      });
      expect(rated.status, rated.stdout + rated.stderr).to.equal(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("the lockfile", () => {
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
    packages: Record<
      string,
      { integrity?: string; resolved?: string; link?: boolean; optionalDependencies?: Record<string, string> }
    >;
  };
  // The rest is this package and its workspaces.
  const packages = Object.entries(lock.packages).filter(
    ([path, { link }]) => path.includes("node_modules/") && link !== true,
  );

  it("has the SHA-512 of every package, and names no registry", () => {
    expect(packages).to.have.length.above(100);
    expect(
      packages.filter(([, { integrity }]) => !integrity?.startsWith("sha512-")).map(([path]) => path),
    ).to.deep.equal([]);
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).to.deep.equal([]);
  });

  // npm ci refuses a lockfile without them; npm install leaves out those the registry does not have.
  it("has the optional packages of every platform", () => {
    const names = new Set(packages.map(([path]) => path.slice(path.lastIndexOf("node_modules/") + 13)));
    const optional = packages.flatMap(([, each]) => Object.keys(each.optionalDependencies ?? {}));
    expect(optional).to.include("@esbuild/darwin-arm64");
    expect(optional.filter((name) => !names.has(name))).to.deep.equal([]);
  });

  it("package.json names exact versions, and those of a workspace are the same", () => {
    const { dependencies, devDependencies, workspaces } = JSON.parse(readFileSync("package.json", "utf8"));
    const all: Record<string, string> = { ...dependencies, ...devDependencies };
    for (const version of Object.values(all)) expect(version).to.match(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);
    for (const folder of workspaces) {
      const its = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")).dependencies;
      expect(its).to.deep.equal(Object.fromEntries(Object.keys(its).map((name) => [name, all[name]])));
    }
  });
});
