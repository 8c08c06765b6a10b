import { getRouteApi, Link } from '@tanstack/react-router';
import { Page, Tabs } from '../../ui';
import { Billing } from './billing';
import { General } from './general';
import { Policy } from './policy';

const route = getRouteApi('/signed-in/administrator/organization');

const TABS = [
  ['General', {}],
  ['Policy', { tab: 'policy' }],
  ['Billing', { tab: 'billing' }],
] as const;

/** The organization itself: its name, its policy, its plan. */
export function Organization() {
  const { tab } = route.useSearch();
  return (
    <Page title="Organization">
      <Tabs label="Parts of the organization">
        {TABS.map(([text, search]) => (
          <Link key={text} to="/organization" search={search} activeOptions={{ exact: true }}>
            {text}
          </Link>
        ))}
      </Tabs>
      {tab === 'policy' ? <Policy /> : tab === 'billing' ? <Billing /> : <General />}
    </Page>
  );
}
