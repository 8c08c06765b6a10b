export interface Goal {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** One measured value of the result. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  /** minimum and maximum of the samples */
  readonly lowest: number;
  readonly highest: number;
  readonly goal: Goal | null;
  /** null without a goal */
  readonly met: boolean | null;
}

/** @param share 0.5 for the median; the nearest rank */
export function quantile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new Error('Nothing was measured');
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

/** The median or another quantile of the samples, compared to its goal. */
export function figure(
  name: string,
  unit: string,
  samples: readonly number[],
  goal: Goal | null = null,
  share = 0.5,
): Figure {
  const value = quantile(samples, share);
  const met = goal && value >= (goal.atLeast ?? -Infinity) && value <= (goal.atMost ?? Infinity);
  return { name, unit, value, lowest: Math.min(...samples), highest: Math.max(...samples), goal, met };
}

const HEADINGS = ['', 'measured', 'min..max', 'goal', ''];

/** Formats the figures as a text table. */
export function table(figures: readonly Figure[]): string {
  const rows = [HEADINGS, ...figures.map(cells)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column]!, column))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cells({ name, unit, value, lowest, highest, goal, met }: Figure): string[] {
  const spread = lowest === highest ? '' : `${digits(lowest)}..${digits(highest)}`;
  const bound = [
    goal?.atLeast === undefined ? '' : `>= ${goal.atLeast}`,
    goal?.atMost === undefined ? '' : `<= ${goal.atMost}`,
  ];
  return [
    name,
    `${digits(value)} ${unit}`.trim(),
    spread,
    bound.filter(Boolean).join(' '),
    met === null ? '' : met ? 'met' : 'MISSED',
  ];
}

const pad = (cell: string, width: number, column: number): string =>
  column === 0 || column === HEADINGS.length - 1 ? cell.padEnd(width) : cell.padStart(width);

const digits = (value: number): string => {
  const places = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 2;
  return value.toFixed(places);
};
