import { Option } from 'commander';
import { ApiFailure, type Schemas } from '#client';
import type { Output } from '../../output';

export type Plan = Schemas['ChangePlanDto'];

export interface TrialOptions {
  readonly dryRun?: boolean;
}

export const trialOption = (): Option =>
  new Option(
    '--dry-run',
    'show what it would end, open and allow, and change nothing; exits as it would without',
  );

/** The query of a request, which is answered with its plan where that is asked for. */
export const trialQuery = ({ dryRun = false }: TrialOptions): { query: { dryRun?: true } } => ({
  query: dryRun ? { dryRun } : {},
});

/**
 * Shows the answer of a request, if it is a plan.
 * @returns whether it is
 * @throws ApiFailure what the request would be refused with
 */
export function showsPlan(answer: unknown, output: Output): boolean {
  if (!isPlan(answer)) return false;
  const { refusal } = answer;
  output.result(answer, refusal ? '' : textOf(answer));
  if (refusal) throw new ApiFailure(refusal.status, refusal.message, refusal.validationErrors, refusal.error);
  return true;
}

export const isPlan = (answer: unknown): answer is Plan =>
  typeof answer === 'object' && answer !== null && 'dryRun' in answer && answer.dryRun === true;

const right = ({ email, resourceName }: Schemas['PlannedRightDto']): string =>
  `  ${email} on ${resourceName}`;

function textOf({ ends, opens, rights, continuing, sample, refused = [] }: Plan): string {
  const { sessions, people, jobs, staticIpRules, rules } = ends;
  const { gained, lost } = rights;
  return [
    `Sessions that end: ${sessions} (people: ${people}, of programs: ${jobs}). Static IP rules that end: ${staticIpRules}.`,
    ...sample.map(({ name }) => `  ${name}`),
    `Rules that close: ${rules}, that open: ${opens.rules}.`,
    `Rights lost: ${lost.total ?? `at most ${lost.atMost}`}, open sessions by them: ${continuing.sessions ?? 'unknown'}.`,
    ...lost.sample.map(right),
    `Rights gained: ${gained.total ?? `at most ${gained.atMost}`}.`,
    ...gained.sample.map(right),
    ...refused.map(({ message = '' }) => `Would be refused: ${message}`),
    'Nothing was changed.',
  ].join('\n');
}
