import type { TargetRuleRow } from '#engine-store/port';
import type { Presence, ResourceRuleDto } from './dto/resource-rule.dto';

const moment = (time: string | null): Date | null => (time === null ? null : new Date(time));

/** Without the rule's id: organizations share rules, and know nothing of each other. */
export const toResourceRule = ({ id: _, state, dueAt, holders, ...row }: TargetRuleRow): ResourceRuleDto => ({
  ...row,
  presence: state.toUpperCase() as Presence,
  nextAttemptAt: dueAt,
  holders: holders.map((holder) => ({
    ...holder,
    until: moment(holder.until),
    releasedAt: moment(holder.releasedAt),
  })),
});
