import { $api, api } from '../../api';
import { useMe } from '../../layout/me';
import { CheckField, Form, Loaded, Notice, Section, TextField, type Entered } from '../../ui';
import styles from './oversight.module.css';

const CHARACTERS = [
  ['passwordRequireUppercase', 'An upper-case letter'],
  ['passwordRequireLowercase', 'A lower-case letter'],
  ['passwordRequireDigit', 'A digit'],
  ['passwordRequireSpecialChar', 'A special character'],
] as const;

/** What the organization demands of passwords, sign-ins and sessions. */
export function Policy() {
  const settings = $api.useQuery('get', '/api/v1/organization/settings');
  const { data: me } = useMe();
  return (
    <Loaded query={settings}>
      {(now) => (
        <Form submit="Save the policy" done="Saved." send={save}>
          <Section title="Sign-in">
            <CheckField
              name="mfaRequired"
              label="Everybody needs a second factor"
              defaultChecked={now.mfaRequired}
              help="Who has none sets it up at the next sign-in, before anything else. API keys and jobs are not affected."
            />
            {me?.mfaEnabled === false && !now.mfaRequired ? (
              <Notice>You have no second factor yet: this concerns you, too.</Notice>
            ) : null}
          </Section>
          <Section title="Sessions">
            <CheckField
              name="requireDetectedAddress"
              label="Only one’s own address"
              defaultChecked={now.requireDetectedAddress}
              help="A session opens only the address that its request comes from, also with an API key. Nobody can let in another place."
            />
          </Section>
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
              {CHARACTERS.map(([name, label]) => (
                <CheckField key={name} name={name} label={label} defaultChecked={now[name]} />
              ))}
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
      )}
    </Loaded>
  );
}

function save(entered: Entered): Promise<unknown> {
  const days = entered.optional('passwordExpirationDays');
  return api.PATCH('/api/v1/organization/settings', {
    body: {
      mfaRequired: entered.checked('mfaRequired'),
      requireDetectedAddress: entered.checked('requireDetectedAddress'),
      passwordMinLength: entered.number('passwordMinLength'),
      passwordRequireUppercase: entered.checked('passwordRequireUppercase'),
      passwordRequireLowercase: entered.checked('passwordRequireLowercase'),
      passwordRequireDigit: entered.checked('passwordRequireDigit'),
      passwordRequireSpecialChar: entered.checked('passwordRequireSpecialChar'),
      passwordExpirationDays: days === undefined ? null : Number(days),
    },
  });
}
