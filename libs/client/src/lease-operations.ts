import type { components, paths } from './schema';

/** What a start may ask for besides: see the description of leases in the API. */
export interface LeaseRequest {
  /** 60 to 3600; without renewal the session ends this early */
  leaseSeconds?: number;
  /** the id of an own live session, which the new one takes the place of, with its end */
  replaces?: string;
}

/** What the answer to such a start holds besides. */
export interface LeaseAnswer {
  /** null or absent: the session has no lease */
  leaseUntil?: string | null;
  /** renews, reads and stops this session only; sent once */
  sessionToken?: string | null;
}

export type Session = components['schemas']['SessionDto'] & Pick<LeaseAnswer, 'leaseUntil'>;

type Stop = paths['/api/v1/sessions/{id}/stop'];

/** The operations, with the renewal of a lease, whose form is that of a stop. */
export type Operations = paths & { '/api/v1/sessions/{id}/renew': Stop };
