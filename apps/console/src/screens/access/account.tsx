import { api, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { Collection } from '../../parts/collection';
import { Lines } from '../../parts/words';
import { Action, Badge, Code, Facts, Loaded, Page, Section, Time, type Column } from '../../ui';
import { MailNotices } from './mail-notices';
import { PasswordButton, SecondFactor } from './password-and-factor';

type Me = Schemas['MeDto'];

/** Who I am here, and how I sign in. */
export function Account() {
  const me = useMe();
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
            <SignIns />
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
const SignIns = () => (
  <Section title="Where you are signed in">
    <Collection
      caption="Your sign-ins, newest first"
      path="/api/v1/auth/sign-ins"
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
