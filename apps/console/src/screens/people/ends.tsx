import { useList, type List } from '../../api';
import { addressesOf, resourcesOf, type Session } from '../../parts/sessions';
import { count, inShort, Some } from '../../parts/words';
import { Loaded, localTime } from '../../ui';

/** What ends at once with a user. Drawn in the dialog that asks. */
export function Ends({ userId }: { userId: string }) {
  const some = { userId, size: 5 };
  const sessions = useList('/api/v1/sessions/admin', { query: { ...some, active: true } });
  const keys = useList('/api/v1/api-keys', { query: { ...some, state: ['VALID', 'ENDING'] } });
  return (
    <>
      <p>Every sign-in ends at once, as do open sessions and API keys.</p>
      <Loaded query={sessions}>{(open) => <Named one="open session" of={open} textOf={wayOf} />}</Loaded>
      <Loaded query={keys}>
        {(valid) => <Named one="API key" of={valid} textOf={({ name }) => name} />}
      </Loaded>
    </>
  );
}

function wayOf(session: Session): string {
  const resources = inShort(resourcesOf(session).map(({ name }) => name));
  return `${addressesOf(session).join(' and ')} to ${resources}, until ${localTime(session.expiresAt)}`;
}

interface NamedProps<Item> {
  readonly one: string;
  readonly of: List<Item>;
  readonly textOf: (item: Item) => string;
}

const Named = <Item,>({ one, of: { items, total }, textOf }: NamedProps<Item>) =>
  total === 0 ? null : (
    <div>
      <strong>{count(total, one)}</strong>
      <Some of={items.map(textOf)} total={total} />
    </div>
  );
