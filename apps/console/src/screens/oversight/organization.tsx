import { getRouteApi, Link } from '@tanstack/react-router';
import { Page, Tabs } from '../../ui';
import { Billing } from './billing';
import { General } from './general';
import { Policy } from './policy';

const route = getRouteApi('/signed-in/administrator/organization');

const exact = { exact: true, includeSearch: true };

/** The organization itself: its name, its policy, its plan. */
export function Organization() {
  const { tab } = route.useSearch();
  return (
    <Page title="Organization">
      <Tabs label="Parts of the organization">
        <Link to="/organization" search={{}} activeOptions={exact}>
          General
        </Link>
        <Link to="/organization" search={{ tab: 'policy' }} activeOptions={exact}>
          Policy
        </Link>
        <Link to="/organization" search={{ tab: 'billing' }} activeOptions={exact}>
          Billing
        </Link>
      </Tabs>
      {tab === 'policy' ? <Policy /> : tab === 'billing' ? <Billing /> : <General />}
    </Page>
  );
}
