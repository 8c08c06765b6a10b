import { Link } from '@tanstack/react-router';
import { useAll } from '../../api';
import { Loaded, localTime } from '../../ui';
import { count, Named, type User } from './parts';
import { wayOf } from './sessions-now';

/** What ends at once with a user, and what does not. Drawn in the dialog that asks. */
export function Ends({ user }: { readonly user: Pick<User, 'id' | 'email' | 'isService'> }) {
  const sessions = useAll('/api/v1/sessions/admin', { userId: user.id, active: true });
  const keys = useAll('/api/v1/api-keys', { userId: user.id });
  return (
    <>
      <p>This ends at once{user.isService ? '' : ', with every sign-in'}:</p>
      <Loaded query={sessions}>
        {(open) => (
          <Named
            lead={<strong>{count(open.length, 'open session')}</strong>}
            items={open.map((session) => `${wayOf(session)}, until ${localTime(session.expiresAt)}`)}
          />
        )}
      </Loaded>
      <Loaded query={keys}>
        {(all) => {
          const valid = all.filter(({ isRevoked }) => !isRevoked);
          return (
            <Named
              lead={<strong>{count(valid.length, 'API key')}</strong>}
              items={valid.map(({ name, keyPrefix }) => `${name} (${keyPrefix}…)`)}
            />
          );
        }}
      </Loaded>
      {user.isService ? null : <StaticRules email={user.email} />}
    </>
  );
}

function StaticRules({ email }: { readonly email: string }) {
  const rules = useAll('/api/v1/static-ip-rules');
  const own = (rules.data ?? []).filter(({ createdByEmail }) => createdByEmail === email);
  return own.length === 0 ? null : (
    <Named
      lead={
        <>
          <strong>Not closed: {count(own.length, 'static IP rule')}</strong> of this person. Delete what is
          not needed under <Link to="/static-rules">Static IP rules</Link>.
        </>
      }
      items={own.map(({ label, ipAddress }) => `${label} (${ipAddress})`)}
    />
  );
}
