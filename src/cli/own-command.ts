/** The command to call this program again: `npx` finds it in a checkout and as a dependency. */
export function ownCommand(): string {
  const throughNpx = process.env.npm_command === "exec"; // Set by npm.
  return throughNpx || (process.argv[1] ?? "").startsWith(process.cwd()) ? "npx venturi" : "venturi";
}
