import { bisect } from '#rules';
import { asCallFailure, CallFailure } from '../call-failure';
import { RULE_NOT_FOUND } from './aws-errors';
import type { Outcomes } from '../outcomes';
import type { WritableGroup } from './aws-target';

/**
 * Revokes rules in one call. EC2 refuses the whole call if one rule does not exist or has a malformed id: then the
 * group is read, and the existing rules are retried, in parts if EC2 still refuses.
 */
export async function removeRules(
  group: WritableGroup,
  ruleIds: readonly string[],
  outcomes: Outcomes,
): Promise<void> {
  const send = (ids: readonly string[]): Promise<CallFailure | null> => revoke(group, ids, outcomes);
  let failure = await send(ruleIds);
  if (!failure) return;
  let rest = ruleIds;
  if (RULE_NOT_FOUND.has(failure.code)) {
    rest = await excludeAbsent(group, ruleIds, outcomes);
    failure = rest.length === 0 ? null : await send(rest);
  }
  if (!failure) return;
  // A rule that the list shows and the revocation does not find counts as present: refused as a conflict.
  await bisect(rest, failure, send, (ids, refusal) => {
    if (ids.length > 1) return false;
    outcomes.failed(ids, refusal);
    return true;
  });
}

/** @returns the refusal when some of the rules may still be revoked */
async function revoke(
  group: WritableGroup,
  ids: readonly string[],
  outcomes: Outcomes,
): Promise<CallFailure | null> {
  if (outcomes.haltedBy) {
    outcomes.unsent(ids);
    return null;
  }
  try {
    await group.revoke(ids);
    for (const id of ids) outcomes.done(id, null);
    return null;
  } catch (error) {
    const failure = asCallFailure(error);
    if (RULE_NOT_FOUND.has(failure.code) || failure.kind === 'invalid') return failure;
    outcomes.halt(ids, failure);
    return null;
  }
}

/** Records rules that the group no longer has as removed. @returns the others; all when the group may not be read */
async function excludeAbsent(
  group: WritableGroup,
  ids: readonly string[],
  outcomes: Outcomes,
): Promise<string[]> {
  try {
    const present = new Set((await group.listRules()).map((rule) => rule.SecurityGroupRuleId));
    for (const id of ids) if (!present.has(id)) outcomes.done(id, null, { wasAbsent: true });
    return ids.filter((id) => present.has(id));
  } catch (error) {
    const failure = asCallFailure(error);
    if (failure.kind === 'denied') return [...ids];
    outcomes.haltUnsent(ids, failure);
    return [];
  }
}
