import { useList, type List } from '../../api';
import { addressesOf, resourcesOf, type Session } from '../../parts/sessions';
import { count } from '../../parts/words';
import { Loaded, localTime, unbroken } from '../../ui';

/** What ends at once with a user. Drawn in the dialog that asks. */
export function Ends({ userId }: { userId: string }) {
  const some = { userId, size: MAX_NAMED };
  const sessions = useList('/api/v1/sessions/admin', { query: { ...some, active: true } });
  const keys = useList('/api/v1/api-keys', { query: { ...some, state: ['VALID', 'ENDING'] } });
  return (
    <>
      <p>Every sign-in ends at once, with what is listed here:</p>
      <Loaded query={sessions}>{(open) => <Named one="open session" of={open} textOf={wayOf} />}</Loaded>
      <Loaded query={keys}>
        {(valid) => <Named one="API key" of={valid} textOf={({ name }) => name} />}
      </Loaded>
    </>
  );
}

/** Of each kind. */
const MAX_NAMED = 20;

function wayOf(session: Session): string {
  const resources = resourcesOf(session).map(({ name }) => name);
  return `${addressesOf(session).join(' and ')} to ${resources.join(', ')}, until ${localTime(session.expiresAt)}`;
}

interface NamedProps<Item> {
  readonly one: string;
  readonly of: List<Item>;
  readonly textOf: (item: Item) => string;
}

const Named = <Item extends { id: string }>({ one, of: { items, total }, textOf }: NamedProps<Item>) => (
  <div>
    <strong>{count(total, one)}</strong>
    <ul>
      {items.map((item) => (
        <li key={item.id}>{unbroken(textOf(item))}</li>
      ))}
      {total > items.length ? <li>and {count(total - items.length, 'other')}</li> : null}
    </ul>
  </div>
);
