/** Resolves after `ms`, or when `ended` does. */
export async function pause(ms: number, ended: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([elapsed, ended]);
  clearTimeout(timer);
}
