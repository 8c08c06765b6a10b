import { getRouteApi, Link } from '@tanstack/react-router';
import { useAll, useList } from '../../api';
import {
  Badge,
  ButtonLink,
  Empty,
  Filters,
  Muted,
  Page,
  SearchField,
  Section,
  SelectField,
  Time,
} from '../../ui';
import { Listed, PAGE_SIZE, USER_STATUS, UserStatus, type User } from './parts';

const route = getRouteApi('/signed-in/administrator/people');

/** The people of the organization. */
export function People() {
  const { page = 0, ...filter } = route.useSearch();
  const query = { ...filter, isService: false, page, size: PAGE_SIZE };
  return (
    <Page
      title="People"
      lead="Who may open access, and to what: a person reaches the resources of their roles."
      actions={
        <ButtonLink to="/people/invite" kind="primary">
          Invite
        </ButtonLink>
      }
    >
      <Section>
        <Narrow />
        <Listed
          caption="People"
          query={useList('/api/v1/users', { query })}
          page={page}
          columns={[
            { head: 'Name', cell: (user) => <PersonName user={user} /> },
            { head: 'Roles', cell: ({ roleNames }) => roleNames.join(', ') || <Muted>none</Muted> },
            { head: 'Status', cell: ({ status }) => <UserStatus status={status} /> },
            { head: 'Last sign-in', cell: ({ lastLoginAt }) => <Time at={lastLoginAt} /> },
          ]}
          empty={
            <Empty title="Nobody fits">
              <Link to="/people">Show everybody</Link>
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}

function Narrow() {
  const now = route.useSearch();
  const { search = '', status = '', roleId = '' } = now;
  const navigate = route.useNavigate();
  const roles = useAll('/api/v1/roles');
  const narrow = (changed: typeof now): void =>
    void navigate({ search: { ...now, ...changed, page: undefined }, replace: true });
  return (
    <Filters>
      <SearchField
        label="Name or e-mail"
        value={search}
        onChange={(text) => narrow({ search: text || undefined })}
      />
      <SelectField
        name="status"
        label="Status"
        value={status}
        options={[['', 'Any'], ...Object.entries(USER_STATUS).map(([key, [text]]) => [key, text] as const)]}
        onChange={(value) => narrow({ status: (value as User['status']) || undefined })}
      />
      <SelectField
        name="roleId"
        label="Role"
        value={roleId}
        options={[['', 'Any'], ...(roles.data ?? []).map(({ id, name }) => [id, name] as const)]}
        onChange={(value) => narrow({ roleId: value || undefined })}
      />
    </Filters>
  );
}

const PersonName = ({ user: { id, name, email, isOrgAdmin } }: { readonly user: User }) => (
  <>
    <Link to="/people/$id" params={{ id }}>
      {name}
    </Link>{' '}
    {isOrgAdmin ? <Badge>Administrator</Badge> : null}
    <div>
      <Muted>{email}</Muted>
    </div>
  </>
);
