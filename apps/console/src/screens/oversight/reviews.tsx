import { getRouteApi, Link } from '@tanstack/react-router';
import { api, serverNow, type Schemas } from '../../api';
import { Collection } from '../../parts/collection';
import { PERSON, ROLE, type Filter } from '../../parts/filters';
import type { Bulk } from '../../parts/selection';
import { count, Lines, RoleLink, StaticRuleLink, UserLink } from '../../parts/words';
import { Badge, Empty, Muted, Page, Section, TabLinks, TextField, Time, type Column } from '../../ui';

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
          <StaticRuleLink id={id}>{name}</StaticRuleLink>
        ) : (
          <RoleLink id={roleId}>{name}</RoleLink>
        )}
        {userId === null ? <Muted>by {email}</Muted> : <UserLink id={userId}>{email}</UserLink>}
      </Lines>
    ),
  },
  { head: 'Reaches', cell: ({ resources }) => count(resources, 'resource') },
  { head: 'Used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="not recently" /> },
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
    cell: ({ dueAt, givenBy }) => (
      <Lines>
        {dueAt !== null && Date.parse(dueAt) <= serverNow() ? <Badge tone="warn">due</Badge> : null}
        {givenBy === null ? <Time at={dueAt} none="never" /> : <Muted>{givenBy} gives it</Muted>}
      </Lines>
    ),
  },
];

const NOTE = <TextField name="note" label="Note" required={false} maxLength={500} help="It is audited." />;

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
            ? 'The users lose these roles: no session can be started or extended by them. What is open continues.'
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
      lead={
        <>
          Who still needs what: select it, and confirm or remove it. The{' '}
          <Link to="/organization" search={{ tab: 'policy' }}>
            policy
          </Link>{' '}
          states how often; nothing is removed by itself.
        </>
      }
    >
      <TabLinks label="Reviews" tabs={TABS} />
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
          isForBulk
          empty={
            <Empty title="There is nothing to review">
              {tab ? <Link to="/static-rules">Static IP rules</Link> : <Link to="/roles">Roles</Link>}
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}
