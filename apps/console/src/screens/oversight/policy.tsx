import { $api, api, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { CheckField, Form, Loaded, Notice, Section, TextField, type Entered } from '../../ui';
import styles from './oversight.module.css';

type Settings = Schemas['OrganizationSettingsDto'];
type Check = readonly [
  name: { [Name in keyof Settings]: Settings[Name] extends boolean ? Name : never }[keyof Settings],
  label: string,
  help?: string,
];

const SIGN_IN: Check = [
  'mfaRequired',
  'Everybody needs a second factor',
  'Who has none sets it up at the next sign-in, before anything else. API keys and jobs are not affected.',
];
const SESSIONS: Check = [
  'requireDetectedAddress',
  'Only one’s own address',
  'A session opens only the address that its request comes from, also with an API key. Nobody can let in another place.',
];
const PASSWORDS: readonly Check[] = [
  ['passwordRequireUppercase', 'An upper-case letter'],
  ['passwordRequireLowercase', 'A lower-case letter'],
  ['passwordRequireDigit', 'A digit'],
  ['passwordRequireSpecialChar', 'A special character'],
];

/** What the organization demands of passwords, sign-ins and sessions. */
export function Policy() {
  const settings = $api.useQuery('get', '/api/v1/organization/settings');
  const { data: me } = useMe();
  return (
    <Loaded query={settings}>
      {(now) => {
        const check = ([name, label, help]: Check) => (
          <CheckField key={name} name={name} label={label} help={help} defaultChecked={now[name]} />
        );
        return (
          <Form submit="Save the policy" done="Saved." send={save}>
            <Section title="Sign-in">
              {check(SIGN_IN)}
              {me?.mfaEnabled === false && !now.mfaRequired ? (
                <Notice>You have no second factor yet: this concerns you, too.</Notice>
              ) : null}
            </Section>
            <Section title="Sessions">{check(SESSIONS)}</Section>
            <Section title="Passwords">
              <TextField
                name="passwordMinLength"
                label="At least this many characters"
                type="number"
                min={8}
                max={128}
                defaultValue={now.passwordMinLength}
                help="8 to 128. This and the following applies to passwords that are set from now on."
              />
              <fieldset>
                <legend className={styles['legend']}>A password must contain</legend>
                {PASSWORDS.map(check)}
              </fieldset>
              <TextField
                name="passwordExpirationDays"
                label="Passwords expire after days"
                type="number"
                min={1}
                max={365}
                required={false}
                defaultValue={now.passwordExpirationDays ?? ''}
                help="1 to 365. Empty: they never expire. After that, one sets a new password at sign-in."
              />
            </Section>
          </Form>
        );
      }}
    </Loaded>
  );
}

function save(entered: Entered): Promise<unknown> {
  const checks = [SIGN_IN, SESSIONS, ...PASSWORDS].map(([name]) => [name, entered.checked(name)]);
  return api.PATCH('/api/v1/organization/settings', {
    body: {
      ...(Object.fromEntries(checks) as Partial<Settings>),
      passwordMinLength: entered.number('passwordMinLength'),
      passwordExpirationDays: entered.text('passwordExpirationDays')
        ? entered.number('passwordExpirationDays')
        : null,
    },
  });
}
