/** A time zone in a text, by its name or a well-known city. */
export function zoneIn(text: string): string | undefined {
  const named = /\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)\/\w+(?:\/\w+)?/.exec(
    text,
  );
  if (named !== null) return named[0];
  const lower = ` ${text.toLowerCase().replaceAll(/[^\p{L}]+/gu, " ")} `;
  return cities.find(([city]) => lower.includes(` ${city} `))?.[1];
}

const cities: readonly (readonly [string, string])[] = [
  ["utc", "UTC"],
  ["gmt", "UTC"],
  ["amsterdam", "Europe/Amsterdam"],
  ["bangkok", "Asia/Bangkok"],
  ["beijing", "Asia/Shanghai"],
  ["berlin", "Europe/Berlin"],
  ["buenos aires", "America/Argentina/Buenos_Aires"],
  ["cairo", "Africa/Cairo"],
  ["cape town", "Africa/Johannesburg"],
  ["chicago", "America/Chicago"],
  ["delhi", "Asia/Kolkata"],
  ["dubai", "Asia/Dubai"],
  ["hong kong", "Asia/Hong_Kong"],
  ["istanbul", "Europe/Istanbul"],
  ["jakarta", "Asia/Jakarta"],
  ["lagos", "Africa/Lagos"],
  ["lisbon", "Europe/Lisbon"],
  ["london", "Europe/London"],
  ["los angeles", "America/Los_Angeles"],
  ["madrid", "Europe/Madrid"],
  ["melbourne", "Australia/Melbourne"],
  ["mexico city", "America/Mexico_City"],
  ["moscow", "Europe/Moscow"],
  ["mumbai", "Asia/Kolkata"],
  ["nairobi", "Africa/Nairobi"],
  ["new york", "America/New_York"],
  ["paris", "Europe/Paris"],
  ["rome", "Europe/Rome"],
  ["san francisco", "America/Los_Angeles"],
  ["sao paulo", "America/Sao_Paulo"],
  ["seoul", "Asia/Seoul"],
  ["shanghai", "Asia/Shanghai"],
  ["singapore", "Asia/Singapore"],
  ["sydney", "Australia/Sydney"],
  ["tokyo", "Asia/Tokyo"],
  ["toronto", "America/Toronto"],
  ["vienna", "Europe/Vienna"],
  ["zurich", "Europe/Zurich"],
];
