/** `Retry-After` (seconds or a date) in milliseconds. @returns null when it is absent or invalid */
export function readRetryAfter(header: string | null | undefined, now = Date.now()): number | null {
  if (!header) return null;
  const milliseconds = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(milliseconds) ? null : Math.max(0, milliseconds);
}
