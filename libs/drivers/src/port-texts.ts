import type { PortRange, RuleSpec } from '#rules';

const LAST_PORT = 65_535;

/** The port ranges of a rule as `22` and `8000-8100`. */
export const portTexts = ({ ports }: RuleSpec): string[] =>
  ports.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));

/** Ranges in ascending order; empty: every port. @returns null when a text is not a range */
export function readPortTexts(texts: readonly string[]): PortRange[] | null {
  const ranges: PortRange[] = [];
  for (const text of texts) {
    const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
    if (from === undefined || Number(from) > Number(to) || Number(to) > LAST_PORT) return null;
    ranges.push({ from: Number(from), to: Number(to) });
  }
  const isEvery = ranges.some(({ from, to }) => from === 0 && to === LAST_PORT);
  return isEvery ? [] : ranges.sort((a, b) => a.from - b.from);
}
