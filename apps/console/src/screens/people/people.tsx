import { getRouteApi } from '@tanstack/react-router';
import { useList } from '../../api';
import { Filters, SelectFilter } from '../../parts/filters';
import { Listed, PAGE_SIZE } from '../../parts/listed';
import { isFiltered } from '../../parts/search';
import { Lines, UserLink } from '../../parts/words';
import { Badge, ButtonLink, Empty, Muted, Page, SearchField, Section, Time } from '../../ui';
import { USER_STATUS, UserStatus, type User } from './parts';

const route = getRouteApi('/signed-in/administrator/people');

const STATUSES = Object.entries(USER_STATUS).map(([key, [text]]) => [key as User['status'], text] as const);

/** The people of the organization. */
export function People() {
  const search = route.useSearch();
  const { page = 0, ...filter } = search;
  const navigate = route.useNavigate();
  const narrow = (changed: typeof search): void =>
    void navigate({ search: { ...filter, ...changed }, replace: true });
  return (
    <Page
      title="People"
      lead="Who may open access, and to what: a person reaches the resources of their roles."
      actions={<ButtonLink to="/people/invite">Invite</ButtonLink>}
    >
      <Section>
        <Filters
          search={search}
          onClear={isFiltered(filter) ? () => void navigate({ search: {} }) : undefined}
        >
          <SearchField
            label="Name or e-mail"
            value={filter.search ?? ''}
            onChange={(text) => narrow({ search: text || undefined })}
          />
          <SelectFilter
            name="status"
            label="Status"
            all="Any"
            options={STATUSES}
            value={filter.status}
            onChange={(status) => narrow({ status })}
          />
        </Filters>
        <Listed
          caption="People"
          query={useList('/api/v1/users', {
            query: { ...filter, search: filter.search, isService: false, page, size: PAGE_SIZE },
          })}
          page={page}
          columns={[
            { head: 'Name', cell: (user) => <PersonName user={user} /> },
            { head: 'Roles', cell: ({ roleNames }) => roleNames.join(', ') || <Muted>none</Muted> },
            { head: 'Status', cell: ({ status }) => <UserStatus status={status} /> },
            { head: 'Last sign-in', cell: ({ lastLoginAt }) => <Time at={lastLoginAt} none="never" /> },
          ]}
          empty={<Empty title="No person matches" />}
        />
      </Section>
    </Page>
  );
}

const PersonName = ({ user: { id, name, email, isOrgAdmin } }: { user: User }) => (
  <Lines>
    <UserLink id={id}>{name}</UserLink>
    {isOrgAdmin ? <Badge>Administrator</Badge> : null}
    <Muted>{email}</Muted>
  </Lines>
);
