/** Produces each item in its own turn. */
export async function* eachIn<T>(
  items: AsyncIterable<T>,
  turn: (next: () => Promise<IteratorResult<T>>) => Promise<IteratorResult<T>>,
): AsyncGenerator<T> {
  const source = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await turn(() => source.next());
      if (done) return;
      yield value;
    }
  } finally {
    await source.return?.();
  }
}

export async function* afterCheck<T>(check: () => Promise<unknown>, items: AsyncIterable<T>): AsyncGenerator<T> {
  await check();
  yield* items;
}
