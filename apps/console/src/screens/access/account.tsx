import { getRouteApi } from '@tanstack/react-router';
import { api, useList, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { Listed, PAGE_SIZE } from '../../parts/listed';
import { Lines } from '../../parts/words';
import { Action, Badge, Code, Facts, Loaded, Page, Section, Time, type Column } from '../../ui';
import { MailNotices } from './mail-notices';
import { PasswordButton, SecondFactor } from './password-and-factor';

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
            <Section title="You" actions={<PasswordButton email={person.email} />}>
              <Facts of={factsOf(person)} />
            </Section>
            <SecondFactor isOn={person.mfaEnabled} />
            <MailNotices isAdmin={person.isOrgAdmin} />
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
  'Last sign-in': <Time at={me.lastLoginAt} none="never" />,
});

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
      <Lines>
        <span title={userAgent ?? ''}>{programOf(userAgent ?? 'unknown')}</span>
        {current ? <Badge tone="good">this one</Badge> : null}
      </Lines>
    ),
  },
  { head: 'From', cell: ({ ipAddress }) => <Code>{ipAddress ?? 'unknown'}</Code> },
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
const PROGRAMS = ['Edg', 'Firefox', 'Chrome', 'Safari'];
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Mac', 'Windows', 'Linux'];

const programOf = (userAgent: string): string =>
  [PROGRAMS, SYSTEMS]
    .map((known) => known.find((each) => userAgent.includes(each)))
    .filter((found) => found !== undefined)
    .join(' on ') || userAgent;
