import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { api } from '../../api';
import { Collection, nameColumn, timeColumn } from '../../parts/collection';
import { ButtonLink, Empty, FormButton, Muted, Notice, Page, Section, TabLinks } from '../../ui';
import { TextField, type Column } from '../../ui';
import { useMe } from '../../layout/me';
import { Keys } from './keys';
import { RolePicker, UserStatus, type User } from './parts';
import { Trusts } from './trusts';

const route = getRouteApi('/signed-in/administrator/automation');

const SERVICE_USERS: readonly Column<User>[] = [
  nameColumn('/people/$id'),
  { head: 'Roles', cell: ({ roleNames }) => roleNames.join(', ') || <Muted>none</Muted> },
  { head: 'Status', cell: ({ status }) => <UserStatus status={status} /> },
  timeColumn('Added', 'createdAt'),
];

const ServiceUsers = () => (
  <Collection
    caption="Service users"
    path="/api/v1/users"
    query={{ isService: true }}
    columns={SERVICE_USERS}
    search="name"
    sort="-createdAt"
    empty={<Empty title="Create one for each pipeline or program. A CI trust brings its own." />}
  />
);

const TABS = [
  {
    tab: undefined,
    title: 'API keys',
    lead: 'A key lets a program act as a user, and never allows more than that user may.',
    action: <ButtonLink to="/automation/keys/new">Create a key</ButtonLink>,
    List: Keys,
  },
  {
    tab: 'service-users',
    title: 'Service users',
    lead: 'Users for programs: with roles and keys, without a password or a sign-in.',
    action: <NewServiceUser />,
    List: ServiceUsers,
  },
  {
    tab: 'trusts',
    title: 'CI trusts',
    lead: 'Jobs of a CI system get access without a stored key: their ID token says which repository they are of.',
    action: <ButtonLink to="/automation/trusts/new">Create a trust</ButtonLink>,
    List: Trusts,
  },
] as const;

/** What programs sign in with. */
export function Automation() {
  const { tab } = route.useSearch();
  const isFree = useMe().data?.organization.subscriptionTier === 'FREE';
  const { lead, title, action, List } = TABS.find((each) => each.tab === tab) ?? TABS[0];
  return (
    <Page title="Automation" lead={lead} actions={action}>
      <TabLinks label="Automation" tabs={TABS.map((each) => [each.title, each.tab])} />
      {isFree ? (
        <Notice>
          On the Free plan, agents alone have API keys, and no CI system is trusted.{' '}
          <Link to="/organization" search={{ tab: 'billing' }}>
            See the plans
          </Link>
        </Notice>
      ) : null}
      <Section key={title}>
        <List />
      </Section>
    </Page>
  );
}

/** Opens a short form, and then the page of the new user, where it gets keys. */
function NewServiceUser() {
  const navigate = useNavigate();
  return (
    <FormButton
      label="Create a service user"
      kind="primary"
      title="Create a service user"
      submit="Create"
      send={async (entered) => {
        const body = { isService: true, name: entered.text('name'), roleIds: entered.all('roleIds') };
        const { id } = (await api.POST('/api/v1/users', { body })).data!;
        await navigate({ to: '/people/$id', params: { id } });
      }}
    >
      <TextField name="name" label="Name" maxLength={200} help="Of the program: deploy-to-staging." />
      <RolePicker />
    </FormButton>
  );
}
