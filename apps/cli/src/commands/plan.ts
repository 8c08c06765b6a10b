import { Option } from 'commander';
import { ApiFailure, bodyOf, type Api, type Schemas } from '#client';
import type { Output } from '../output';
import { noteInactive } from '../access/held-access';
import { timeText } from '../terminal/times';

type Plan = Schemas['SessionPlanDto'];
type Rule = Schemas['PlannedRuleDto'];

export const dryRunOption = (): Option =>
  new Option('--dry-run', 'show what it would open, and open nothing; exits as the start would');

const WORDS: Readonly<Record<Rule['outcome'], string>> = {
  OPENS: 'opens',
  SHARED: 'is open already, and stays when this ends',
  ALREADY_OPEN: 'is let in already',
  FULL: 'is refused: there is no room for it',
  MAY_BE_FULL: 'may be refused: there may be no room for it',
};

/**
 * Shows the plan of a start.
 * @throws ApiFailure what the start would be refused with
 */
export async function showPlan(api: Api, body: Schemas['StartSessionDto'], output: Output): Promise<void> {
  const plan = await bodyOf(api.POST('/api/v1/sessions/plan', { body }));
  const { refusal } = plan;
  output.result(plan, textOf(plan));
  noteInactive(plan, output);
  if (refusal) throw new ApiFailure(refusal.status, refusal.message, refusal.validationErrors, refusal.error);
}

function textOf({ resources, closes, expiresAt, usesAccessRequestId, waitSeconds }: Plan): string {
  const rules = resources.flatMap(({ resourceName, rules: some, room }) => [
    ...some.map(({ outcome, by, ...rule }) => {
      const named = by === null ? '' : ` by ${by}`;
      return `${resourceName}: ${ruleText(rule)} ${WORDS[outcome]}${named}`;
    }),
    ...(room === null ? [] : [`${resourceName} has ${room.text}, then ${room.after}.`]),
  ]);
  return [
    ...rules,
    ...(waitSeconds ? [`Opens in about ${waitSeconds} s.`] : []),
    ...closes.map((rule) => `${rule.resourceName}: ${ruleText(rule)} closes`),
    ...(expiresAt === null ? [] : [`Until ${timeText(expiresAt)}. Nothing was started.`]),
    ...(usesAccessRequestId === null ? [] : [`It would use the access request ${usesAccessRequestId}.`]),
  ].join('\n');
}

const ruleText = ({ address, protocol, ports }: Omit<Rule, 'outcome' | 'by'>): string =>
  `${address} ${protocol} ${ports}`;
