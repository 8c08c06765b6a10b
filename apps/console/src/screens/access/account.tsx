import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api, useList, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { Listed, PAGE_SIZE } from '../../parts/listed';
import {
  Action,
  Badge,
  Facts,
  Form,
  Loaded,
  Notice,
  Page,
  Section,
  TextField,
  Time,
  type Column,
} from '../../ui';
import { SecondFactor } from './second-factor';

const route = getRouteApi('/signed-in/account');
type Me = Schemas['MeDto'];

/** Who I am here, and how I sign in. */
export function Account() {
  const me = useMe();
  const { page = 0 } = route.useSearch();
  return (
    <Page title="Account">
      <Loaded query={me}>
        {(person) => (
          <>
            <Section title="You">
              <Facts of={factsOf(person)} />
            </Section>
            <Password me={person} />
            <SecondFactor isOn={person.mfaEnabled} />
            <SignIns page={page} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

const factsOf = ({ organization: { name, slug }, ...me }: Me) => ({
  Name: me.name,
  'E-mail': me.email,
  Organization: `${name} (${slug})`,
  Roles: me.roleNames.join(', ') || 'None yet: an administrator assigns them',
  Administrator: me.isOrgAdmin ? 'Yes' : 'No',
  'Last sign-in': <Time at={me.lastLoginAt} />,
  'Member since': <Time at={me.createdAt} />,
});

/** The rules come with a refusal: the API says them to nobody else than administrators before. */
function Password({ me }: { readonly me: Me }) {
  // counts the changes: each leaves an empty form
  const [times, setTimes] = useState(0);
  return (
    <Section title="Password">
      {times > 0 ? (
        <Notice tone="good" announced>
          Your password is changed. Your other sign-ins have ended.
        </Notice>
      ) : null}
      <Form
        key={times}
        submit="Change the password"
        onDone={() => setTimes(times + 1)}
        send={(entered) => {
          const newPassword = entered.raw('newPassword');
          const body = { currentPassword: entered.raw('currentPassword'), newPassword };
          return api.POST('/api/v1/auth/change-password', { body });
        }}
      >
        <input type="hidden" autoComplete="username" value={me.email} readOnly />
        <TextField
          name="currentPassword"
          label="Current password"
          type="password"
          autoComplete="current-password"
        />
        <TextField
          name="newPassword"
          label="New password"
          type="password"
          autoComplete="new-password"
          help="Your other sign-ins end with it."
        />
      </Form>
    </Section>
  );
}

/** Where this person is signed in, and how to end that. */
const SignIns = ({ page }: { readonly page: number }) => (
  <Section title="Where you are signed in">
    <Listed
      caption="Your sign-ins, newest first"
      query={useList('/api/v1/auth/sign-ins', { query: { page, size: PAGE_SIZE } })}
      page={page}
      columns={SIGN_INS}
      empty={null}
    />
  </Section>
);

const SIGN_INS: readonly Column<Schemas['SignInDto']>[] = [
  {
    head: 'With',
    cell: ({ userAgent, current }) => (
      <div title={userAgent ?? ''}>
        {programOf(userAgent ?? '')} {current ? <Badge tone="good">this one</Badge> : null}
      </div>
    ),
  },
  { head: 'From', cell: ({ ipAddress }) => <code>{ipAddress ?? 'unknown'}</code> },
  { head: 'Signed in', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  {
    head: '',
    cell: ({ id, current }) => {
      const end = (): Promise<unknown> =>
        api.DELETE('/api/v1/auth/sign-ins/{id}', { params: { path: { id } } });
      return current ? null : <Action label="End" act={end} />;
    },
  },
];

/** What is found first counts: browsers name each other. */
const PROGRAMS = ['drawbridge', 'Edg/', 'Firefox', 'Chrome', 'Safari'];
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Mac OS', 'Windows', 'Linux'];

function programOf(userAgent: string): string {
  const find = (known: readonly string[]): string | undefined =>
    known.find((each) => userAgent.includes(each));
  const found = [find(PROGRAMS)?.replace('Edg/', 'Edge'), find(SYSTEMS)].filter((each) => each !== undefined);
  return found.join(' on ') || userAgent || 'unknown';
}
