/** How far apart the two clocks may drift before the finer one is reset, ms. */
const most = 2;
let origin = performance.timeOrigin;

/**
 * The current time in ms with a fraction, used as the engine's time of our own message until its copy arrives. Whole ms could be before a
 * message stored earlier in the same ms, and lists over several streams would be out of order.
 */
export function aboutNow(): number {
  const wall = Date.now();
  const fine = origin + performance.now();
  // Within the same or next ms: `wall` has no fraction.
  if (fine >= wall - most && fine <= wall + 1 + most) return fine;
  origin += wall - fine;
  return wall;
}
