import type { Schemas } from '../../api';

export type Resource = Schemas['ResourceDto'];
export type Body = Schemas['StartSessionDto'];

export interface StartProps {
  readonly me: Schemas['MeDto'];
  /** that this person may open, and that work */
  readonly resources: readonly Resource[];
  /** shows a session as soon as it is there */
  readonly onStarted: (id: string) => void;
}
