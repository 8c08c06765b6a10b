import { $api, api, signOut, useList, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { useEdit } from '../../parts/edits';
import { LockdownActions } from '../../parts/lockdown';
import { count } from '../../parts/words';
import { ButtonLink, Code, ConfirmButton, Facts, Form, Loaded, Notice, Row, Section } from '../../ui';
import { CodeField, TextField, Time, type Entered } from '../../ui';

/** What the organization is called, and its end. */
export function General() {
  const organization = $api.useQuery('get', '/api/v1/organization');
  return (
    <Loaded query={organization}>
      {(shown) => (
        <>
          {shown.suspended ? (
            <Notice tone="warn">
              The organization is suspended: no session can be started or extended. Ask the operator of this
              service.
            </Notice>
          ) : null}
          <Section title="Name">
            <Rename organization={shown} />
            <Facts
              of={{
                'Short name': <Code copied="Short name">{shown.slug}</Code>,
                Id: <Code copied="Id">{shown.id}</Code>,
                Since: <Time at={shown.createdAt} />,
              }}
            />
          </Section>
          <Section title="Lockdown">
            <p>For an emergency: ends the access of everybody at once, and lets none begin.</p>
            <Row>
              <LockdownActions userId={null} name={shown.name} lockdown={shown.lockdown} />
            </Row>
          </Section>
          <Section title="Delete the organization">
            <p>Only its last administrator can delete it, with a second factor. This cannot be undone.</p>
            <Row>
              <Delete organization={shown} />
            </Row>
          </Section>
        </>
      )}
    </Loaded>
  );
}

function Rename({ organization }: { organization: Schemas['OrganizationDto'] }) {
  const edit = useEdit(organization, () => api.GET('/api/v1/organization'));
  const send = (entered: Entered): Promise<unknown> =>
    edit({ name: entered.text('name') }, (body) => api.PATCH('/api/v1/organization', { body }));
  return (
    <Form submit="Rename" done="Renamed." send={send}>
      <TextField name="name" label="Name" maxLength={200} defaultValue={organization.name} />
    </Form>
  );
}

function Delete({ organization: { name, slug } }: { organization: Schemas['OrganizationDto'] }) {
  const { data: me } = useMe();
  if (!me?.mfaEnabled) return <ButtonLink to="/account">Set up a second factor</ButtonLink>;
  return (
    <ConfirmButton
      label="Delete the organization"
      title={`Delete ${name}?`}
      confirm={`Delete ${slug}`}
      act={(entered) =>
        api.POST('/api/v1/organization/delete', {
          body: { confirmSlug: entered.text('confirmSlug'), code: entered.text('code') },
        })
      }
      onDone={() => signOut(`${name} is deleted. Its last rules are being removed.`)}
    >
      <Closing />
      <TextField
        name="confirmSlug"
        label="Short name of the organization"
        help={`To confirm, enter ${slug}`}
      />
      <CodeField help="From your authenticator app, or a recovery code" />
    </ConfirmButton>
  );
}

/** What a deletion closes, counted. */
function Closing() {
  const sessions = useList('/api/v1/sessions/admin', { query: { active: true, size: 1 } });
  const rules = useList('/api/v1/static-ip-rules', { query: { size: 1 } });
  return (
    <>
      <Loaded query={sessions}>
        {({ total }) => <p>This ends {count(total, 'open session')} at once.</p>}
      </Loaded>
      <p>
        It closes {count(rules.data?.total ?? 0, 'static IP rule')}, signs everybody out, and ends API keys
        and trusts of jobs.
      </p>
    </>
  );
}
