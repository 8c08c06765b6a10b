import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, asFailure } from '../../api';
import {
  ButtonLink,
  CheckField,
  Copyable,
  Form,
  Notice,
  Page,
  Section,
  Stack,
  TextArea,
  type Entered,
} from '../../ui';
import { RolePicker } from './parts';
import { patiently } from './requests';

interface Outcome {
  readonly email: string;
  /** of the person; undefined: the address was refused */
  readonly id?: string;
  readonly link?: string | null;
  readonly refusal?: string;
}

interface Invited {
  readonly outcomes: readonly Outcome[];
  readonly roleIds: readonly string[];
}

/** The API does not say whether it sends mail. */
export const PASS_ON =
  'The link is shown once. It is mailed, too, if this deployment sends mail. If not, pass it on yourself.';

/** Invites people. */
export function Invite() {
  const [{ outcomes, roleIds }, setInvited] = useState<Invited>({ outcomes: [], roleIds: [] });
  const refused = outcomes.filter(({ id }) => id === undefined).map(({ email }) => email);
  return (
    <Page title="Invite people" lead="Each gets a link, valid for seven days, to set a name and a password.">
      {outcomes.length > 0 ? <Outcomes of={outcomes} /> : null}
      <Section>
        {/* what was refused stays, to be corrected */}
        <Form
          key={outcomes.length}
          submit="Invite"
          busy="Inviting…"
          alias={{ email: 'emails' }}
          send={invite}
          onDone={setInvited}
        >
          <TextArea
            name="emails"
            label="E-mail addresses"
            help="One or several, with spaces, commas or lines between them."
            defaultValue={refused.join('\n')}
          />
          <RolePicker chosen={roleIds} />
          <CheckField
            name="isOrgAdmin"
            label="As administrators"
            help="They manage people, roles, resources and everything else."
          />
        </Form>
      </Section>
    </Page>
  );
}

/** Each address is a request of its own: one that is refused does not keep the others. */
async function invite(entered: Entered): Promise<Invited> {
  const roleIds = entered.all('roleIds');
  const shared = { roleIds, isOrgAdmin: entered.checked('isOrgAdmin') };
  const emails = new Set(entered.text('emails').split(/[\s,;]+/));
  const outcomes: Outcome[] = [];
  for (const email of emails) {
    try {
      const { data } = await patiently(() => api.POST('/api/v1/users', { body: { email, ...shared } }));
      outcomes.push({ email, id: data!.id, link: data!.invitationUrl });
    } catch (error) {
      // the form shows at its field what is wrong with the only one
      if (emails.size === 1) throw error;
      outcomes.push({ email, refusal: asFailure(error).message });
    }
  }
  return { outcomes, roleIds };
}

const Outcomes = ({ of }: { readonly of: readonly Outcome[] }) => (
  <Section title="Invitations" actions={<ButtonLink to="/people">Done</ButtonLink>}>
    {of.some(({ id }) => id) ? (
      <Notice tone="good" announced>
        {PASS_ON}
      </Notice>
    ) : null}
    {of.map(({ email, id, link, refusal }) =>
      id === undefined ? (
        <Notice key={email} tone="bad" announced>
          {email}: {refusal}
        </Notice>
      ) : (
        <Stack key={email}>
          <Link to="/people/$id" params={{ id }}>
            {email}
          </Link>
          {link ? <Copyable text={link} label={`Invitation of ${email}`} /> : null}
        </Stack>
      ),
    )}
  </Section>
);
