import { getRouteApi } from '@tanstack/react-router';
import { Page, TabLinks } from '../../ui';
import { Billing } from './billing';
import { CompanySignIn } from './company-sign-in';
import { General } from './general';
import { Policy } from './policy';

const route = getRouteApi('/signed-in/administrator/organization');

const TABS = [
  ['General', undefined, General],
  ['Company sign-in', 'company-sign-in', CompanySignIn],
  ['Policy', 'policy', Policy],
  ['Billing', 'billing', Billing],
] as const;

/** The organization itself: its name, its sign-in, its policy, its plan. */
export function Organization() {
  const { tab } = route.useSearch();
  const [, , Shown] = TABS.find(([, each]) => each === tab) ?? TABS[0];
  return (
    <Page title="Organization">
      <TabLinks label="Parts of the organization" tabs={TABS} />
      <Shown />
    </Page>
  );
}
