import type { Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { Facts, Loaded, Page, Section, Time } from '../../ui';
import { PasswordSection } from './password';
import { SecondFactor } from './second-factor';
import { SignIns } from './sign-ins';

/** Who I am here, and how I sign in. */
export function Account() {
  const me = useMe();
  return (
    <Page title="Account">
      <Loaded query={me}>
        {(person) => (
          <>
            <Who me={person} />
            <PasswordSection me={person} />
            <SecondFactor isOn={person.mfaEnabled} />
            <SignIns />
          </>
        )}
      </Loaded>
    </Page>
  );
}

const Who = ({ me }: { readonly me: Schemas['MeDto'] }) => (
  <Section title="You">
    <Facts
      of={{
        Name: me.name,
        'E-mail': me.email,
        Organization: `${me.organization.name} (${me.organization.slug})`,
        Roles:
          me.roleNames.length === 0 ? 'None yet: an administrator assigns them' : me.roleNames.join(', '),
        Administrator: me.isOrgAdmin ? 'Yes' : 'No',
        'Last sign-in': <Time at={me.lastLoginAt} />,
        'Member since': <Time at={me.createdAt} />,
      }}
    />
  </Section>
);
