import { $api, api, type Schemas } from '../../api';
import { CheckField, Form, Loaded, Muted, Notice, Section } from '../../ui';

type Switch = keyof Schemas['UpdateNoticesDto'];
type Labelled = readonly (readonly [name: Switch, label: string])[];

const OWN: Labelled = [
  ['sessionExpiring', 'My access ends soon'],
  ['sessionStopped', 'Another person ended my access'],
];
const OF_ADMINISTRATORS: Labelled = [
  ['resourceHealth', 'A resource needs attention, or works again'],
  ['agentAway', 'An agent is away, or there are two of one name'],
  ['keyExpiring', 'An API key or a static IP rule ends soon'],
  ['trustRefused', 'A trust refused a CI job'],
];

/** What I get mails about. */
export function MailNotices({ isAdmin }: { readonly isAdmin: boolean }) {
  const switches = isAdmin ? [...OWN, ...OF_ADMINISTRATORS] : OWN;
  return (
    <Section title="Mail">
      <Loaded query={$api.useQuery('get', '/api/v1/users/me/notices')}>
        {(now) => (
          <Form
            submit="Save the choice"
            done="Saved."
            send={(entered) => {
              const body = Object.fromEntries(switches.map(([name]) => [name, entered.checked(name)]));
              return api.PATCH('/api/v1/users/me/notices', { body });
            }}
          >
            {now.mailed ? null : <Notice>This deployment has no mail server: no mail is sent.</Notice>}
            {switches.map(([name, label]) => (
              <CheckField key={name} name={name} label={label} defaultChecked={now[name]} />
            ))}
            {isAdmin ? (
              <Muted>
                Administrators always get mails about access that could not be closed, refused credentials and
                disabled webhooks.
              </Muted>
            ) : null}
          </Form>
        )}
      </Loaded>
    </Section>
  );
}
