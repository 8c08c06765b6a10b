import type { Evidence } from './evidence';
import { BEGUN_AT } from './evidence-builder';
import { judgeEvidence } from './oracles';

/** 50 minutes after the start: later than any bound, also under load. */
export const LATER = 3000;

/** The ids of the oracles that the evidence violates. */
export const violatedOracles = (evidence: Evidence): string[] => [
  ...new Set(judgeEvidence(evidence).map((message) => message.split(' ')[0]!)),
];

/** ms since 1970 */
export const atSecond = (seconds: number): number => BEGUN_AT + seconds * 1000;
