/** CPU time that the work takes, ms: unlike the time on the wall, it is the same beside other processes. */
export function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return since(before);
}

export async function cpuTimeOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return since(before);
}

function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
