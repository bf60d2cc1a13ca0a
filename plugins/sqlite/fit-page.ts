/** Like `fitPage` of venturi/plugin, which this thread does not load. */
export function fitPage<Row>(
  rows: Iterable<Row>,
  most: number,
  sizeOf: (row: Row) => number,
): { page: Row[]; cut: boolean } {
  const page: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += sizeOf(row);
    if (page.length > 0 && bytes > most) return { page, cut: true };
    page.push(row);
  }
  return { page, cut: false };
}
