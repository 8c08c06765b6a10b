import { $api, api, signOut, useList, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { ButtonLink, ConfirmButton, Facts, Form, Loaded, Muted, Notice, Section, Stack } from '../../ui';
import { TextField, Time } from '../../ui';

type Organization = Schemas['OrganizationDto'];

export function General() {
  const organization = $api.useQuery('get', '/api/v1/organization');
  return (
    <Loaded query={organization}>
      {(shown) => (
        <>
          {shown.suspended ? (
            <Notice tone="warn">
              The organization is suspended: no session can be started or extended. Stopping still works. Ask
              the operator of this service.
            </Notice>
          ) : null}
          <Section title="Name">
            <Form
              submit="Rename"
              done="Renamed."
              send={(entered) => api.PATCH('/api/v1/organization', { body: { name: entered.text('name') } })}
            >
              <TextField name="name" label="Name" maxLength={200} defaultValue={shown.name} />
            </Form>
            <Facts
              of={{
                Slug: (
                  <>
                    <code>{shown.slug}</code>
                    <div>
                      <Muted>Names the organization at sign-in. It stays when the name changes.</Muted>
                    </div>
                  </>
                ),
                Id: <code>{shown.id}</code>,
                Since: <Time at={shown.createdAt} />,
              }}
            />
          </Section>
          <Section title="Delete the organization">
            <Delete organization={shown} />
          </Section>
        </>
      )}
    </Loaded>
  );
}

function Delete({ organization }: { readonly organization: Organization }) {
  const me = useMe();
  if (me.data === undefined) return null;
  if (!me.data.mfaEnabled)
    return (
      <Stack>
        <p>Deleting the organization takes a second factor. Set it up first.</p>
        <div>
          <ButtonLink to="/account">Set up a second factor</ButtonLink>
        </div>
      </Stack>
    );
  const { name, slug } = organization;
  return (
    <Stack>
      <p>Only its last administrator can delete it. This cannot be undone.</p>
      <div>
        <ConfirmButton
          label="Delete the organization"
          title={`Delete ${name}?`}
          confirm={`Delete ${slug}`}
          act={(entered) =>
            api.POST('/api/v1/organization/delete', {
              body: { confirmSlug: entered.text('confirmSlug'), code: entered.text('code') },
            })
          }
          onDone={() => void signOut(`${name} is deleted. Its last rules are being removed.`)}
        >
          <Closing />
          <TextField
            name="confirmSlug"
            label="Slug of the organization"
            help={
              <>
                To confirm, enter <code>{slug}</code>
              </>
            }
          />
          <TextField
            name="code"
            label="Code"
            autoComplete="one-time-code"
            help="From your authenticator app, or a recovery code"
          />
        </ConfirmButton>
      </div>
    </Stack>
  );
}

/** What a deletion closes, counted. */
function Closing() {
  const sessions = useList('/api/v1/sessions/admin', { query: { active: true, size: 1 } });
  const rules = useList('/api/v1/static-ip-rules', { query: { size: 1 } });
  return (
    <p>
      At once: {counted(sessions.data?.total, 'open session')} and{' '}
      {counted(rules.data?.total, 'static IP rule')} are closed, and everybody is signed out. API keys and
      trusts of jobs stop working. The audit trail is kept as long as this service keeps it.
    </p>
  );
}

const counted = (count: number | undefined, thing: string): string =>
  count === undefined ? `every ${thing}` : `${count} ${thing}${count === 1 ? '' : 's'}`;
