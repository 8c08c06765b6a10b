import type { SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { Room } from '#rules';

/** A prefix list that a rule refers to. */
export interface ListSize {
  readonly family: 4 | 6;
  readonly maxEntries: number;
}

/** Inbound rules of one IP version, unless the account's quota was raised. */
const DEFAULT_QUOTA = 60;

/**
 * What counts for the quotas of a security group: a prefix list as many as it may have, whatever it has; another group one of
 * both IP versions.
 * @param lists by id; null: it cannot be read
 */
export function groupRoom(
  rules: readonly SecurityGroupRule[],
  lists: ReadonlyMap<string, ListSize | null>,
): Room[] {
  return ([4, 6] as const).map((family): Room => {
    const counts = rules.map((rule) => countOf(rule, family, lists));
    const used = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    const isAtLeast = counts.includes(null);
    return { family, used, limit: DEFAULT_QUOTA, limitFrom: 'DEFAULT', ...(isAtLeast && { isAtLeast }) };
  });
}

/** @returns null when it is not known */
function countOf(
  { IsEgress, CidrIpv4, CidrIpv6, PrefixListId }: SecurityGroupRule,
  family: 4 | 6,
  lists: ReadonlyMap<string, ListSize | null>,
): number | null {
  if (IsEgress) return 0;
  if (PrefixListId !== undefined) {
    const list = lists.get(PrefixListId);
    if (!list) return null;
    return list.family === family ? list.maxEntries : 0;
  }
  return (family === 4 ? CidrIpv6 : CidrIpv4) === undefined ? 1 : 0;
}
