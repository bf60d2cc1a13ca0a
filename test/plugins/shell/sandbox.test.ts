import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { expect } from "chai";
import { callTool } from "../../../src/testing.ts";
import { createShell, makeRepository, makeWorkspace, secret, type Workspace, withoutBubblewrap } from "./workspace.ts";

const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));

describe(`shell in bubblewrap (${withoutBubblewrap ?? "which is here"})`, () => {
  let workspace: Workspace;
  before(function () {
    if (withoutBubblewrap !== undefined) return this.skip();
    workspace = makeWorkspace();
    makeRepository(workspace);
  });
  after(() => workspace?.remove());

  const commands = [{ name: "sh", argv: ["bash", "-c"], arguments: "any" }];
  const run = async (text: string, given: Record<string, unknown> = {}) => {
    const tool = await createShell(workspace, { commands, path, timeout: "60s", ...given });
    return (await callTool(tool, { command: "sh", arguments: [text] })).output as { stdout: string; stderr: string };
  };

  it("shows the workspace and the system's programs, and no other file", async () => {
    expect((await run("cat hello.txt; pwd")).stdout).to.equal(`hello\n${workspace.root}\n`);
    const told = await run(
      "cat ../outside/secret.txt link-file link-folder/* /etc/passwd /etc/shadow; ls /root /home /run /sys; ls ..; ls /",
    );
    expect(JSON.stringify(told)).not.to.match(new RegExp(`${secret}|root:`));
    expect(told.stdout).not.to.match(/outside|home|var|run/);
  });

  it("does without a /proc of its own where none may be mounted, as in a container or a hardened unit", async () => {
    const bin = join(workspace.base, "masked");
    mkdirSync(bin);
    const real = path.map((folder) => join(folder, "bwrap")).find((file) => existsSync(file));
    const text = `#!/bin/sh\ncase " $* " in *" --proc "*) echo "Can't mount proc" >&2; exit 1;; esac\nexec ${real} "$@"\n`;
    writeFileSync(join(bin, "bwrap"), text, { mode: 0o755 });
    const told = await run("cat hello.txt; ls /proc", { path: [bin, ...path] });
    expect(told.stdout).to.equal("hello\n");
    rmSync(bin, { recursive: true });
  });

  it("lets commands write in the workspace and nowhere else, not even to the machine's settings as root", async () => {
    const told = await run(
      `echo x > made.txt
       for at in ${workspace.base}/planted link-folder/planted /planted /usr/planted /etc/planted /dev/planted; do echo x > $at; done
       ln /usr/bin/env linked; cp made.txt ..; mkdir /proc/x
       for at in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sysrq-trigger; do [ -w $at ] && echo $at is writable; done
       mount -o remount,rw /usr; umount /proc/sys; unshare -Urm true && echo namespaces; chroot . true && echo chroot
       find / -xdev -writable -type d 2>/dev/null; grep CapEff /proc/self/status`,
    );
    expect(told.stdout).not.to.match(/is writable|namespaces|chroot/);
    expect(told.stdout).to.match(/CapEff:\s*0+\n/);
    expect(existsSync(join(workspace.root, "made.txt"))).to.equal(true);
    expect(existsSync(join(workspace.root, "linked"))).to.equal(false);
    expect(readdirSync(workspace.base).sort()).to.deep.equal(["outside", "work"]);
    expect(readdirSync(join(workspace.base, "outside"))).to.deep.equal(["secret.txt"]);
  });

  it("gives commands no descriptor, terminal, socket or variable of the service", async () => {
    process.env.VENTURI_TEST_SECRET = secret;
    const told = await run(
      `ls /proc/self/fd /proc/1/fd; cat /proc/*/environ | tr '\\0' '\\n'; for one in /proc/[0-9]*; do cat $one/root$PWD/../outside/secret.txt; done
       exec 2>&1; : < /dev/tty; ls /run/dbus /var/run /tmp/.X11-unix; echo "$DBUS_SESSION_BUS_ADDRESS$XDG_RUNTIME_DIR$SSH_AUTH_SOCK"`,
    );
    delete process.env.VENTURI_TEST_SECRET;
    expect(JSON.stringify(told)).not.to.contain(secret);
    const [fds = ""] = told.stdout.split("PATH=");
    expect([...fds.matchAll(/^\d+$/gm)].map(([fd]) => Number(fd)).filter((fd) => fd > 3)).to.deep.equal([]);
    expect(told.stdout).to.match(/\/dev\/tty: No such device/);
  });

  it("keeps .git from being written, renamed, removed or replaced, so that no hook is left for others to run", async () => {
    const config = readFileSync(join(workspace.root, ".git/config"), "utf8");
    const told = await run(
      `printf '#!/bin/sh\\ntouch ../canary\\n' > hook; chmod +x hook
       git mv hello.txt .git/hooks/pre-commit; mv hook .git/hooks/pre-commit; cp hook .git/hooks/post-checkout
       git config core.fsmonitor ./hook; echo x >> .git/config; rm -rf .git; mv .git elsewhere; ln -sfn src .git
       echo src > .git/commondir; git -c core.hooksPath=. status --short`,
    );
    expect(told.stdout).to.contain("?? hook");
    expect(readdirSync(join(workspace.root, ".git/hooks")).filter((name) => !name.endsWith(".sample"))).to.deep.equal(
      [],
    );
    expect(readFileSync(join(workspace.root, ".git/config"), "utf8")).to.equal(config);
    expect(existsSync(join(workspace.root, ".git/commondir"))).to.equal(false);
    const free = await run("git -c user.name=a -c user.email=a@b.c commit -qm two --allow-empty && git log --oneline", {
      readOnly: [],
    });
    expect(free.stdout).to.match(/two\n.*inner/);
  });

  it("shows a program that lies elsewhere, and nothing beside it", async () => {
    const program = join(workspace.base, "outside/show.sh");
    writeFileSync(program, "#!/bin/sh\ncat $(dirname $0)/*\n", { mode: 0o755 });
    const tool = await createShell(workspace, { commands: [{ name: "show", argv: [program] }] });
    const { output } = await callTool(tool, { command: "show" });
    rmSync(program);
    expect(output).to.have.property("exit", 0);
    expect(JSON.stringify(output)).to.contain("dirname").and.not.to.contain(secret);
  });

  it("does not follow a link put in the place of what it protects", async () => {
    symlinkSync("../outside", join(workspace.root, "shield"));
    const told = await run("cat shield/secret.txt; ls shield/", { readOnly: ["shield"] });
    expect(JSON.stringify(told)).not.to.contain(secret);
  });

  it("has no network, also none of abstract sockets, and sees no process of the host", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    let reached = 0;
    server.on("connection", (socket) => {
      reached++;
      socket.destroy();
    });
    const text = `echo hi > /dev/tcp/127.0.0.1/${port}; ls -d /proc/[0-9]* | wc -l; kill -0 ${process.pid} && echo seen; wc -l < /proc/net/unix`;
    const told = await run(text);
    expect(reached).to.equal(0);
    expect(told.stdout).not.to.contain("seen");
    const [processes, sockets] = told.stdout.split("\n").map(Number);
    expect(processes).to.be.below(8);
    expect(sockets).to.equal(1); // the heading
    await run(text, { network: true });
    server.close();
    expect(reached).to.equal(1);
  });

  it("a fork bomb goes no further than maxProcesses, and ends with its call", async function () {
    if (process.getuid?.() === 0) return this.skip(); // the kernel does not count root's
    const bomb = "bomb() { bomb | bomb & }; bomb; while :; do ls -d /proc/[0-9]* | wc -l; done 2>/dev/null";
    let most = 0;
    const tool = await createShell(workspace, { commands, path, timeout: "700ms", maxProcesses: 64 });
    const progress = (text: string) => {
      most = Math.max(most, ...text.split("\n").map(Number));
    };
    const thrown = await callTool(tool, { command: "sh", arguments: [bomb] }, { progress }).catch((error) => error);
    expect(thrown).to.have.property("code", "tool_timeout");
    expect(most).to.be.at.most(64);
  });

  it("bounds what is written to memory", async () => {
    const told = await run(
      "head -c 300M /dev/zero > /tmp/full; head -c 300M /dev/zero > /dev/shm/full; ls -s /tmp/full | wc -l",
    );
    expect(told.stderr.match(/No space left/g)).to.have.length(2);
  });

  it("another sandbox that the operator names is used as it is, if it is one", async () => {
    const system = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"];
    const more = ["--symlink", "usr/lib64", "/lib64", "--bind", "{workspace}", "{workspace}", "--chdir", "{directory}"];
    const sandbox = ["bwrap", "--unshare-all", "--die-with-parent", ...system, ...more];
    const tool = await createShell(workspace, { commands: ["pwd", "cat"], sandbox });
    const { output } = await callTool(tool, { command: "pwd", directory: "src" });
    expect(output).to.have.property("stdout", `${workspace.root}/src\n`);
    const seen = await callTool(tool, { command: "cat", arguments: ["../outside/secret.txt"] });
    expect(JSON.stringify(seen)).not.to.contain(secret);
  });
});
