import { Link } from '@tanstack/react-router';
import { useAll } from '../../api';
import { addressesOf, resourcesOf } from '../../parts/sessions';
import { count } from '../../parts/words';
import { Loaded, localTime } from '../../ui';
import type { User } from './parts';

/** What ends at once with a user, and what does not. Drawn in the dialog that asks. */
export function Ends({ user: { id, isService } }: { user: Pick<User, 'id' | 'isService'> }) {
  const sessions = useAll('/api/v1/sessions/admin', { userId: id, active: true });
  const keys = useAll('/api/v1/api-keys', { userId: id });
  return (
    <>
      <p>This ends at once{isService ? '' : ', with every sign-in'}:</p>
      <Loaded query={sessions}>
        {(open) => (
          <Named title={count(open.length, 'open session')}>
            {open.map((session) => {
              const resources = resourcesOf(session).map(({ name }) => name);
              return `${addressesOf(session).join(' and ')} to ${resources.join(', ')}, until ${localTime(session.expiresAt)}`;
            })}
          </Named>
        )}
      </Loaded>
      <Loaded query={keys}>
        {(all) => {
          const valid = all.filter(({ isRevoked }) => !isRevoked);
          return (
            <Named title={count(valid.length, 'API key')}>
              {valid.map(({ name, keyPrefix }) => `${name} (${keyPrefix}…)`)}
            </Named>
          );
        }}
      </Loaded>
      {isService ? null : (
        <p>
          <strong>Not closed:</strong> their <Link to="/static-rules">static IP rules</Link>.
        </p>
      )}
    </>
  );
}

const Named = ({ title, children }: { title: string; children: readonly string[] }) => (
  <div>
    <strong>{title}</strong>
    <ul>
      {children.map((item) => (
        <li key={item}>{item}</li>
      ))}
    </ul>
  </div>
);
