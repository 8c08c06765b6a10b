import type { Evidence } from './evidence';
import type { History } from './history';

/** A guarantee, and its check. */
export interface Oracle {
  readonly id: string;
  readonly guarantee: string;
  violations(evidence: Evidence, history: History): string[];
}
