import { Link } from '@tanstack/react-router';
import type { Schemas } from '../api';
import { localTime, Notice } from '../ui';

/** Drawn on every screen while it lasts. */
export function LockdownBanner({ me, of }: { me: Schemas['MeDto']; of: Schemas['LockdownDto'] }) {
  const { scope, declaredBy, declaredAt, reason } = of;
  return (
    <Notice tone="bad">
      <p>
        <strong>
          {scope === 'ORGANIZATION' ? 'The organization is locked down' : 'You are locked down'}
        </strong>{' '}
        by {declaredBy} since {localTime(declaredAt)}: {reason}
      </p>
      <p>No access can be opened or extended until an administrator lifts the lockdown.</p>
      {me.isOrgAdmin && scope === 'ORGANIZATION' ? (
        <p>
          <Link to="/organization">Lift it</Link> · <Link to="/open">See what is still open</Link>
        </p>
      ) : null}
    </Notice>
  );
}
