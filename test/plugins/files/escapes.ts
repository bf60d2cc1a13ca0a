/** Paths to the system's own files. For reading alone: a guard that fails must not cost anyone their /etc/passwd. */
export function systemEscapes(): string[] {
  const far = Array.from({ length: 12 }, (_, times) => `${"../".repeat(times + 1)}etc/passwd`);
  const absolute = ["/etc/passwd", "//etc/passwd", "/./etc/passwd", "/proc/self/environ", "/proc/self/root/etc/passwd"];
  const devices = ["/dev/stdin", "/proc/self/fd/0", "/", `${"../".repeat(1500)}etc/passwd`];
  const homes = ["~/.ssh/id_rsa", "~root/.bashrc", "~"];
  return [...far, ...absolute, ...devices, ...homes];
}

/** Paths that try to leave the root for what lies beside it, or to reach what is denied in it. */
export function escapes(base: string): string[] {
  const outside = ["outside/secret.txt", "outside/inner/secret.txt", "root-twin/secret.txt"];
  const ups = ["../", "..//", "./../", ".././", "src/../../", "src/deep/../../../", "nothing/../../", "../root/../"];
  const climbing = ups.flatMap((up) => outside.map((target) => up + target));
  const absolute = [`${base}/outside/secret.txt`, `${base}/root/../outside`];
  const homes = ["$HOME/.bashrc/../../x", "%USERPROFILE%/../x"];
  const windows = [
    "C:\\secret",
    "C:/secret",
    "c:secret",
    "\\\\host\\share",
    "..\\outside\\secret.txt",
    "src\\..\\..\\outside",
  ];
  const encoded = ["%2e%2e/outside/secret.txt", "..%2foutside%2fsecret.txt", "%2e%2e%2foutside/secret.txt"];
  const wide = ["．．/outside/secret.txt", "..／outside/secret.txt", "\u2025/outside/secret.txt", "..\u2215outside"];
  const controls = [
    "readme.md\0",
    "../outside/secret.txt\0.md",
    "\0../outside",
    "readme.md\n",
    "a\r/../x",
    "\u007f",
    "\t/x",
  ];
  const links = [
    "link-file",
    "link-folder",
    "link-relative",
    "src/link-up",
    "link-to-link",
    "loop-a",
    "link-slash",
    "link-proc",
  ];
  const through = ["link-folder", "link-relative", "link-to-link"].flatMap((link) =>
    ["secret.txt", "inner/secret.txt", "./secret.txt", "inner/../secret.txt", "new.txt"].map(
      (rest) => `${link}/${rest}`,
    ),
  );
  const system2 = ["etc/passwd", "proc/self/environ", "tmp/x"].map((rest) => `link-slash/${rest}`);
  const process = ["environ", "root/etc/passwd", "cwd/package.json", "fd/0"].map((rest) => `link-proc/${rest}`);
  const denied = [
    ".env",
    "./.env",
    ".ENV",
    ".env.local",
    "server.PEM",
    "src/x.pem",
    ".git/config",
    ".git/hooks/pre-commit",
  ];
  const nested = ["src/.git/hooks/x", ".ssh/authorized_keys", "src/.npmrc", "id_rsa.pub", "deep/.Git/config"];
  const slashes = [
    "....//outside/secret.txt",
    "..;/outside/secret.txt",
    ".../outside/secret.txt",
    "..",
    "../",
    "../..",
    "src/..",
  ];
  const long = [`${"a/".repeat(3000)}x`, "a".repeat(5000)];
  return [
    ...climbing,
    ...absolute,
    ...homes,
    ...windows,
    ...encoded,
    ...wide,
    ...controls,
    ...links,
    ...through,
    ...system2,
    ...process,
    ...denied,
    ...nested,
    ...slashes,
    ...long,
  ];
}
