import type { TargetRuleRow } from '#engine-store/port';
import type { Presence, ResourceRuleDto } from './dto/resource-rule.dto';

const moment = (time: string | null): Date | null => (time === null ? null : new Date(time));

export const toResourceRule = ({ state, dueAt, holders, ...row }: TargetRuleRow): ResourceRuleDto => ({
  ...row,
  presence: state.toUpperCase() as Presence,
  nextAttemptAt: dueAt,
  holders: holders.map((holder) => ({
    ...holder,
    until: moment(holder.until),
    releasedAt: moment(holder.releasedAt),
  })),
});
