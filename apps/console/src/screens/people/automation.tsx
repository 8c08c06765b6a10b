import { getRouteApi, Link } from '@tanstack/react-router';
import { ButtonLink, Page, Section, Tabs } from '../../ui';
import { Keys } from './keys';
import { NewServiceUser, ServiceUsers } from './service-users';
import { Trusts } from './trusts';

const route = getRouteApi('/signed-in/administrator/automation');

const TABS = [
  {
    tab: undefined,
    title: 'API keys',
    lead: 'A key lets a program act as a user, and never allows more than that user may.',
    action: (
      <ButtonLink to="/automation/keys/new" kind="primary">
        Create a key
      </ButtonLink>
    ),
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
    action: (
      <ButtonLink to="/automation/trusts/new" kind="primary">
        Create a trust
      </ButtonLink>
    ),
    List: Trusts,
  },
] as const;

/** What programs sign in with. */
export function Automation() {
  const { tab, page = 0 } = route.useSearch();
  const { lead, title, action, List } = TABS.find((each) => each.tab === tab) ?? TABS[0];
  return (
    <Page title="Automation" lead={lead} actions={action}>
      <Tabs label="Automation">
        {TABS.map((each) => (
          <Link
            key={each.title}
            to="/automation"
            search={{ tab: each.tab }}
            activeOptions={{ explicitUndefined: true }}
          >
            {each.title}
          </Link>
        ))}
      </Tabs>
      <Section key={title}>
        <List page={page} />
      </Section>
    </Page>
  );
}
