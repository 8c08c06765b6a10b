import {
  type AccessInterval,
  coverageOf,
  grouped,
  type HolderKind,
  mergeIntervals,
  overlaps,
  type RuleCause,
} from '#rules';
import type { PlacedRule } from './rows';

/** Inclusive time window of a report; both times are equal for an instant. */
export interface AccessWindow {
  readonly from: Date;
  readonly to: Date;
}

/** Why a session was started, and who approved it. */
export interface SessionGrounds {
  readonly reason: string | null;
  readonly ticket: string | null;
  /** e-mails */
  readonly approvers: readonly string[];
  /** without the approval that it needed */
  readonly breakGlass: boolean;
}

/** Access of one address through a rule, for one holder or without one. Grounds: while the session is kept. */
export interface AccessRow extends AccessInterval, SessionGrounds, Omit<PlacedRule, 'resourceType'> {
  /** of the holder; without an own holder, the organization's oldest resource on the target */
  readonly resourceId: string;
  readonly resourceName: string;
  readonly holderKind: HolderKind;
  /** of the session or the static IP rule */
  readonly holderId: string | null;
  readonly userEmail: string | null;
  readonly cause: RuleCause | null;
}

/** A row with its target. */
export interface FoundRow extends Omit<AccessRow, keyof SessionGrounds> {
  readonly targetId: string;
}

/** A target that the organization may see completely: one of its resources is write-verified there. */
export interface KnownTarget {
  readonly targetId: string;
  readonly resourceId: string;
  readonly resourceName: string;
  readonly createdAt: Date;
}

/** Hides access from before the organization's resource on the target existed. */
export function sinceCreation(row: FoundRow, target: KnownTarget, { from, to }: AccessWindow): FoundRow[] {
  if (target.createdAt > to) return [];
  const begin = target.createdAt > from ? target.createdAt : from;
  if (!overlaps(row, begin, to)) return [];
  return [{ ...row, resourceId: target.resourceId, resourceName: target.resourceName }];
}

/**
 * Drops rows of other organizations that are covered by own rows of the same rule, and merges the rest so that the number
 * of their holders is not revealed. All other rows are unchanged.
 */
export function withoutCovered(
  rows: readonly FoundRow[],
  own: readonly FoundRow[],
  { from, to }: AccessWindow,
): FoundRow[] {
  const ownOf = grouped(own, ruleOf);
  const others = rows.filter(({ holderKind }) => holderKind === 'OTHER');
  return [
    ...rows.filter(({ holderKind }) => holderKind !== 'OTHER'),
    ...[...grouped(others, ruleOf)].flatMap(([rule, group]) => {
      const isCovered = coverageOf(ownOf.get(rule) ?? []);
      return mergeIntervals(group.filter((row) => !isCovered(row, from, to)));
    }),
  ];
}

const ruleOf = ({ targetId, address, protocol, ports }: FoundRow): string =>
  [targetId, address, protocol, ports].join(' ');

export const newestFirst = (one: FoundRow, other: FoundRow): number =>
  (other.possibleFrom?.getTime() ?? 0) - (one.possibleFrom?.getTime() ?? 0) ||
  ruleOf(one).localeCompare(ruleOf(other));

const NO_GROUNDS: SessionGrounds = { reason: null, ticket: null, approvers: [], breakGlass: false };

/** @param grounds by session */
export const asShown = (
  { targetId: _target, ...row }: FoundRow,
  grounds: ReadonlyMap<string, SessionGrounds>,
): AccessRow => ({ ...row, ...(grounds.get(row.holderId ?? '') ?? NO_GROUNDS) });
