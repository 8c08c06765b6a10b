/** `Retry-After` in milliseconds: seconds, or a date. @returns null when there is none, or it is neither */
export function readRetryAfter(header: string | null | undefined, now = Date.now()): number | null {
  if (!header) return null;
  const milliseconds = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(milliseconds) ? null : Math.max(0, milliseconds);
}
