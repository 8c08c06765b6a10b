import { useState } from 'react';
import { $api, api, type Schemas } from '../../api';
import { ButtonLink, Copyable, Form, Loaded, Muted, Notice, Section, Stack, TextField } from '../../ui';

/** The way to the first access; and invitations, which can be left for later. */
export function DoneStep({ roleId }: { readonly roleId: string }) {
  const [invited, setInvited] = useState<readonly Schemas['CreatedUserDto'][]>([]);
  const role = $api.useQuery('get', '/api/v1/roles/{id}', { params: { path: { id: roleId } } });
  return (
    <Loaded query={role}>
      {({ name }) => (
        <>
          <Section title="Everything is ready">
            <p>Open it for yourself now, for as long as you need it.</p>
            <div>
              <ButtonLink kind="primary" large to="/">
                Let me in
              </ButtonLink>
            </div>
          </Section>
          <Section title="Invite others">
            <Muted>They get the role {name}. You can do this later, too.</Muted>
            {invited.map((user) => (
              <Notice key={user.id} tone="good" announced>
                <Stack>
                  <p>
                    {user.email} is invited, and gets a mail if this service sends mails. Otherwise pass this
                    on:
                  </p>
                  {user.invitationUrl ? (
                    <Copyable text={user.invitationUrl} label={`Invitation of ${user.email}`} />
                  ) : null}
                </Stack>
              </Notice>
            ))}
            <Form
              key={invited.length}
              submit="Invite"
              submitKind="normal"
              send={async (entered) => {
                const body = { email: entered.text('email'), roleIds: [roleId] };
                return (await api.POST('/api/v1/users', { body })).data!;
              }}
              onDone={(user) => setInvited([...invited, user])}
            >
              <TextField name="email" label="E-mail" type="email" />
            </Form>
          </Section>
        </>
      )}
    </Loaded>
  );
}
