/** A list with the first half of its changes applied, rounded up, removals first. */
export function halfChanged(before: readonly string[], after: readonly string[]): string[] {
  const removed = before.filter((entry) => !after.includes(entry));
  const added = after.filter((entry) => !before.includes(entry));
  const applied = new Set([...removed, ...added].slice(0, Math.ceil((removed.length + added.length) / 2)));
  return [
    ...before.filter((entry) => !removed.includes(entry) || !applied.has(entry)),
    ...added.filter((entry) => applied.has(entry)),
  ];
}
