import { $api, api, type Schemas } from '../../api';
import { useEdit } from '../../parts/edits';
import { CheckField, Form, Loaded, Section, TextField, type Entered } from '../../ui';

type Settings = Schemas['OrganizationSettingsDto'];
type Check = { [Name in keyof Settings]: Settings[Name] extends boolean ? Name : never }[keyof Settings];

const REVIEWS = [
  ['membershipReviewDays', 'Days until a user’s role is to be confirmed again'],
  ['staticRuleReviewDays', 'Days until a static IP rule is to be confirmed again'],
] as const;

const PASSWORDS: readonly (readonly [name: Check, label: string])[] = [
  ['passwordRequireUppercase', 'An upper-case letter'],
  ['passwordRequireLowercase', 'A lower-case letter'],
  ['passwordRequireDigit', 'A digit'],
  ['passwordRequireSpecialChar', 'A special character'],
];

const SETTINGS = '/api/v1/organization/settings';

/** What the organization demands of passwords, sign-ins and sessions. */
export const Policy = () => (
  <Loaded query={$api.useQuery('get', SETTINGS)}>{(now) => <PolicyForm now={now} />}</Loaded>
);

function PolicyForm({ now }: { now: Settings }) {
  const edit = useEdit(now, () => api.GET(SETTINGS));
  return (
    <Form
      submit="Save the policy"
      done="Saved."
      send={(entered) => edit(enteredIn(entered), (body) => api.PATCH(SETTINGS, { body }))}
    >
      <Section title="Sign-in">
        <CheckField
          name="mfaRequired"
          label="Everybody needs a second factor"
          help="Who has none, you too, sets it up at the next sign-in. API keys and jobs are not affected."
          defaultChecked={now.mfaRequired}
        />
        <TextField
          name="reSignInGraceHours"
          label="Hours to sign in again with the company"
          type="number"
          min={0}
          max={72}
          defaultValue={now.reSignInGraceHours}
          help="0 to 72. When the identity provider’s own session is over, API keys and open access go on for so long."
        />
      </Section>
      <Section title="Sessions">
        <CheckField
          name="requireDetectedAddress"
          label="Only one’s own address"
          help="A session opens only the address that its request comes from, also with an API key."
          defaultChecked={now.requireDetectedAddress}
        />
        <TextField
          name="maxResourcesPerSession"
          label="Most resources that one session may open"
          type="number"
          min={1}
          max={2000}
          required={false}
          defaultValue={now.maxResourcesPerSession ?? ''}
          help="1 to 2,000. Empty: as many as one’s roles allow."
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
          <legend>
            <strong>A password must contain</strong>
          </legend>
          {PASSWORDS.map(([name, label]) => (
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
      <Section title="Reviews">
        {REVIEWS.map(([name, label]) => (
          <TextField
            key={name}
            name={name}
            label={label}
            type="number"
            min={30}
            max={730}
            required={false}
            defaultValue={now[name] ?? ''}
            help="30 to 730. Empty: never. What is late is listed under Needs attention; nothing is removed by itself."
          />
        ))}
      </Section>
    </Form>
  );
}

function enteredIn(entered: Entered): Settings {
  const numberOrNull = (name: keyof Settings): number | null => Number(entered.text(name)) || null;
  const checks: readonly Check[] = [
    'mfaRequired',
    'requireDetectedAddress',
    ...PASSWORDS.map(([name]) => name),
  ];
  return {
    ...(Object.fromEntries(checks.map((name) => [name, entered.checked(name)])) as Record<Check, boolean>),
    passwordMinLength: entered.number('passwordMinLength'),
    reSignInGraceHours: entered.number('reSignInGraceHours'),
    passwordExpirationDays: numberOrNull('passwordExpirationDays'),
    membershipReviewDays: numberOrNull('membershipReviewDays'),
    staticRuleReviewDays: numberOrNull('staticRuleReviewDays'),
    maxResourcesPerSession: numberOrNull('maxResourcesPerSession'),
  };
}
