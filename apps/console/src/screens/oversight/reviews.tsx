import { getRouteApi, Link } from '@tanstack/react-router';
import { api, type Schemas } from '../../api';
import { Collection, timeColumn } from '../../parts/collection';
import { PERSON, ROLE, type Filter } from '../../parts/filters';
import type { Bulk } from '../../parts/selection';
import { count, Lines } from '../../parts/words';
import { Empty, Muted, Page, Section, Tabs, TextField, Time, type Column } from '../../ui';

type Review = Schemas['ReviewDto'];
type Kind = Review['kind'];

const route = getRouteApi('/signed-in/administrator/reviews');

const TABS = [
  ['Users with roles', undefined],
  ['Static IP rules', 'static-rules'],
] as const;

const DUE: Filter = {
  name: 'due',
  label: 'To be reviewed',
  options: { true: 'now', false: 'later or never' },
};

const COLUMNS: readonly Column<Review>[] = [
  {
    head: 'Right',
    sort: 'name',
    cell: ({ name, email, roleId, userId, id }) => (
      <Lines>
        {roleId === null || userId === null ? (
          <Link to="/static-rules/$id" params={{ id }}>
            {name}
          </Link>
        ) : (
          <Link to="/roles/$id" params={{ id: roleId }}>
            {name}
          </Link>
        )}
        {userId === null ? (
          <Muted>by {email}</Muted>
        ) : (
          <Link to="/people/$id" params={{ id: userId }}>
            {email}
          </Link>
        )}
      </Lines>
    ),
  },
  { head: 'Reaches', cell: ({ resources }) => count(resources, 'resource') },
  timeColumn('Used', 'lastUsedAt', 'not recently'),
  {
    head: 'Confirmed',
    cell: ({ reviewedAt, reviewedByEmail }) => (
      <Lines>
        <Time at={reviewedAt} none="never" />
        {reviewedByEmail === null ? null : <Muted>{reviewedByEmail}</Muted>}
      </Lines>
    ),
  },
  {
    head: 'Due',
    sort: 'dueAt',
    cell: ({ dueAt, givenBy }) =>
      givenBy === null ? <Time at={dueAt} none="never" /> : <Muted>{givenBy} gives it</Muted>,
  },
];

const NOTE = <TextField name="note" label="Note" required={false} maxLength={500} help="It is recorded." />;

const decided =
  (kind: Kind, decision: 'CONFIRM' | 'REMOVE'): Bulk<Review>['act'] =>
  (ids, entered, signal) => {
    const note = entered.text('note') || null;
    return api.POST('/api/v1/reviews', {
      body: { decisions: ids.map((id) => ({ kind, id, decision, note })) },
      signal,
    });
  };

const bulkOf = (kind: Kind): readonly Bulk<Review>[] => [
  { label: 'Confirm', children: NOTE, act: decided(kind, 'CONFIRM') },
  {
    label: 'Remove',
    ends: {},
    children: (
      <>
        <p>
          {kind === 'MEMBERSHIP'
            ? 'The users lose these roles: no session can be started or extended by them.'
            : 'The rules are deleted, and removed at once.'}
        </p>
        {NOTE}
      </>
    ),
    act: decided(kind, 'REMOVE'),
  },
];

const nameOf = ({ kind, name, email }: Review): string =>
  kind === 'MEMBERSHIP' ? `${name}, ${email}` : name;

/** Rights that are confirmed again from time to time, or taken away. */
export function Reviews() {
  const { tab } = route.useSearch();
  const kind = tab === undefined ? 'MEMBERSHIP' : 'STATIC_RULE';
  return (
    <Page
      title="Reviews"
      lead="Who still needs what. How often it is to be confirmed is said under Organization, Policy; nothing goes by itself."
    >
      <Tabs label="Reviews">
        {TABS.map(([text, each]) => (
          <Link key={text} to="/reviews" search={{ tab: each }} activeOptions={{ explicitUndefined: true }}>
            {text}
          </Link>
        ))}
      </Tabs>
      <Section>
        <Collection
          key={kind}
          caption="Rights, what is due first"
          path="/api/v1/reviews"
          query={{ kind }}
          columns={COLUMNS}
          search="name or e-mail"
          filters={kind === 'MEMBERSHIP' ? [DUE, ROLE, PERSON] : [DUE]}
          sort="dueAt"
          one="right"
          nameOf={nameOf}
          bulk={bulkOf(kind)}
          empty={<Empty title="There is nothing to review" />}
        />
      </Section>
    </Page>
  );
}
