/** How far apart the two clocks may drift before the finer one is reset, ms. */
const most = 2;
let origin = performance.timeOrigin;

/**
 * Now, in ms with a fraction: stands for the engine's time of a message until its own copy arrives. In whole ms it would be
 * before the time of a message that was stored earlier in the same one, and lists over several streams out of order.
 */
export function aboutNow(): number {
  const wall = Date.now();
  const fine = origin + performance.now();
  // Within the same ms, or the next: `wall` has no fraction.
  if (fine >= wall - most && fine <= wall + 1 + most) return fine;
  origin += wall - fine;
  return wall;
}
