import type { Evidence } from './evidence';
import type { History } from './history';

/** A promise, and what of the evidence breaks it. */
export interface Oracle {
  readonly id: string;
  readonly promise: string;
  violations(evidence: Evidence, history: History): string[];
}
