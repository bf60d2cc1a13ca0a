/** Case-insensitive glob match with `*` and `?`. Linear except for stars. */
export function matchesName(pattern: string, name: string): boolean {
  const wanted = pattern.toLowerCase();
  const given = name.toLowerCase();
  let inPattern = 0;
  let inName = 0;
  let star = -1;
  let resume = 0;
  while (inName < given.length) {
    const sign = wanted[inPattern];
    if (sign === "*") {
      star = inPattern++;
      resume = inName;
    } else if (sign === "?" || sign === given[inName]) {
      inPattern++;
      inName++;
    } else if (star >= 0) {
      inPattern = star + 1;
      inName = ++resume;
    } else return false;
  }
  while (wanted[inPattern] === "*") inPattern++;
  return inPattern === wanted.length;
}
