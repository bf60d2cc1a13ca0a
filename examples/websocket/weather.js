const step = Number(process.env.WEATHER_STEP_MS ?? 400);

/** A tool that takes its time, so that there is something to see, and to interrupt. */
export default {
  description: "Tells the weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string", description: "City such as Oslo" } },
    required: ["city"],
    additionalProperties: false,
  },
  effect: "pure",
  async *call({ city }, { signal }) {
    for (const doing of ["asking the station", "reading the radar"]) {
      yield `${doing}\n`;
      await pause(step, signal);
    }
    return `4 degrees and light rain in ${city}`;
  },
};

const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
