import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api, asFailure, type Schemas } from '../../api';
import { ButtonLink, CheckField, Copyable, Form, Notice, Page, Section, TextArea } from '../../ui';
import type { Entered } from '../../ui';
import { RolePicker } from './parts';
import { UserLink } from '../../parts/words';

const route = getRouteApi('/signed-in/administrator/people/invite');

interface Outcome {
  readonly email: string;
  /** a refusal, or who was invited */
  readonly became: string | Schemas['CreatedUserDto'];
}

/** The API does not say whether it sends mail. */
export const PASS_ON = 'The link is shown once. Unless this deployment sends mail, pass it on yourself.';

/** Invites people. */
export function Invite() {
  const { roleId } = route.useSearch();
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const refused = outcomes.filter(({ became }) => typeof became === 'string').map(({ email }) => email);
  return (
    <Page title="Invite people" lead="Each gets a link, valid for seven days, to set a name and a password.">
      {outcomes.length > 0 ? <Outcomes of={outcomes} /> : null}
      <Section>
        <Form submit="Invite" busy="Inviting…" alias={{ email: 'emails' }} send={invite} onDone={setOutcomes}>
          <TextArea
            // what was refused stays, to be corrected
            key={outcomes.length}
            name="emails"
            label="E-mail addresses"
            help="One or several, with spaces, commas or lines between them."
            defaultValue={refused.join('\n')}
          />
          <RolePicker {...(roleId ? { chosen: [roleId] } : {})} />
          <CheckField name="isOrgAdmin" label="As administrators" help="They manage everything here." />
        </Form>
      </Section>
    </Page>
  );
}

/** Each address is a request of its own: one that is refused does not keep the others. */
async function invite(entered: Entered): Promise<readonly Outcome[]> {
  const shared = { roleIds: entered.all('roleIds'), isOrgAdmin: entered.checked('isOrgAdmin') };
  const emails = new Set(entered.text('emails').split(/[\s,;]+/));
  const outcomes: Outcome[] = [];
  for (const email of emails) {
    try {
      outcomes.push({
        email,
        became: (await api.POST('/api/v1/users', { body: { email, ...shared } })).data!,
      });
    } catch (error) {
      // the form shows at its field what is wrong with the only one
      if (emails.size === 1) throw error;
      outcomes.push({ email, became: asFailure(error).message });
    }
  }
  return outcomes;
}

const Outcomes = ({ of }: { of: readonly Outcome[] }) => (
  <Section title="Invitations" actions={<ButtonLink to="/people">Done</ButtonLink>}>
    <Notice announced>{PASS_ON}</Notice>
    {of.map(({ email, became }) =>
      typeof became === 'string' ? (
        <Notice key={email} tone="bad">{`${email}: ${became}`}</Notice>
      ) : (
        <div key={email}>
          <UserLink id={became.id}>{email}</UserLink>
          {became.warnings.map((warning) => (
            <Notice key={warning} tone="warn">{`${email}: ${warning}`}</Notice>
          ))}
          {became.invitationUrl ? (
            <Copyable text={became.invitationUrl} label={`Invitation of ${email}`} />
          ) : null}
        </div>
      ),
    )}
  </Section>
);
