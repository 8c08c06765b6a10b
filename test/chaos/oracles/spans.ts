/** A time interval, ms since 1970, end excluded; an open one ends at infinity. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The parts of `whole` that none of `covers` covers. */
export function uncovered(whole: Span, covers: readonly Span[]): Span[] {
  const gaps: Span[] = [];
  let from = whole.from;
  for (const cover of [...covers].sort((a, b) => a.from - b.from)) {
    if (cover.to <= from) continue;
    if (cover.from >= whole.to) break;
    if (cover.from > from) gaps.push({ from, to: cover.from });
    from = Math.max(from, cover.to);
  }
  if (from < whole.to) gaps.push({ from, to: whole.to });
  return gaps;
}

/** Whether one of the spans contains the moment. */
export const covers = (spans: readonly Span[], moment: number): boolean =>
  spans.some((span) => span.from <= moment && moment < span.to);

/** Whether one of the spans overlaps the window. */
export const overlaps = (spans: readonly Span[], window: Span): boolean =>
  spans.some((span) => span.from <= window.to && window.from < span.to);
