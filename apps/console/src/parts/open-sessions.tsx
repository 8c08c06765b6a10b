import { useList } from '../api';
import { Loaded } from '../ui';
import { count } from './words';

/** How many sessions are open. @param of a filter of the list of sessions; left out: all of the organization */
export const OpenSessions = ({ of = {} }: { readonly of?: Readonly<Record<string, string>> }) => (
  <Loaded query={useList('/api/v1/sessions/admin', { query: { ...of, active: true, size: 1 } })}>
    {({ total }) => <p>This ends {count(total, 'open session')} at once.</p>}
  </Loaded>
);
