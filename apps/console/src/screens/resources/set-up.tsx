import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, useList } from '../../api';
import { useMe } from '../../layout/me';
import { ChoiceField } from '../../parts/choosing';
import { useTypes, type Credential, type ProviderTypes } from '../../parts/types';
import { Action, ButtonLink, CheckField, Form, Loaded, Page, Row, Section } from '../../ui';
import { Tabs, TextField, type Entered } from '../../ui';
import { CredentialDetails, CredentialForm } from './credential';
import { ResourceForm } from './resource-form';
import type { SetUpSearch } from './steps';
import { VerifyResource } from './verify-resource';

const route = getRouteApi('/signed-in/administrator/set-up');

/** Goes to a step, with what was made or chosen. @param replace the step left is not one to come back to */
type Go = (to: SetUpSearch, replace?: boolean) => void;

/** From nothing to the first access: a credential, a resource, a role, and people. */
export function SetUp() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { credential, resource, role } = search;
  // with what those before have made: a step that one goes back to asks again
  const steps = [
    { title: 'Credential', isOpen: true, to: { step: 'credential' } },
    { title: 'Resource', isOpen: Boolean(credential), to: { step: 'resource', credential } },
    { title: 'Role', isOpen: Boolean(resource), to: { step: 'role', credential, resource } },
    { title: 'Let people in', isOpen: Boolean(role), to: { step: 'done', credential, resource, role } },
  ] as const;
  const found = steps.findIndex(({ isOpen, to }) => isOpen && to.step === search.step);
  const at = Math.max(0, found);
  const { step } = steps[at]!.to;
  const go: Go = (to, replace = false) => void navigate({ search: { ...search, ...to }, replace });
  return (
    <Page title="Set up access" lead="Three short forms lead from your provider to the first access.">
      <Tabs label="Steps">
        {steps.map((each, index) => (
          <Link
            key={each.title}
            to="/set-up"
            search={each.to}
            disabled={index > at}
            aria-current={index === at ? 'page' : undefined}
          >
            {index + 1}. {each.title}
          </Link>
        ))}
      </Tabs>
      <Loaded query={useTypes()}>
        {(types) => (
          <>
            {step === 'credential' ? <CredentialStep types={types} id={credential} go={go} /> : null}
            {step === 'resource' && credential ? (
              <ResourceStep types={types} credentialId={credential} id={resource} go={go} />
            ) : null}
            {step === 'role' && resource ? <RoleStep resourceId={resource} go={go} /> : null}
            {step === 'done' ? <DoneStep resourceId={resource} roleId={role} /> : null}
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface OfProvider {
  readonly types: readonly ProviderTypes[];
  readonly id: string | undefined;
  readonly go: Go;
}

/** A new credential, or one that is there; then, unless it was accepted at once, what is missing. */
function CredentialStep({ types, id = '', go }: OfProvider) {
  const params = { path: { id } };
  const credential = $api.useQuery('get', '/api/v1/credentials/{id}', { params }, { enabled: id !== '' });
  const onward = (chosen: Credential): void =>
    go({ step: chosen.isValid ? 'resource' : 'credential', credential: chosen.id });
  if (id === '')
    return (
      <>
        <UseExisting
          what="credential"
          from="/api/v1/credentials"
          onUse={async (chosen) => {
            const given = { params: { path: { id: chosen } } };
            onward((await api.GET('/api/v1/credentials/{id}', given)).data!);
          }}
        />
        <Section title="New credential">
          <p>With it, Drawbridge adds and removes rules. It is encrypted and never shown again.</p>
          <CredentialForm types={types} onDone={onward} />
        </Section>
      </>
    );
  return (
    <Loaded query={credential}>
      {(of) => (
        <CredentialDetails of={of} types={types}>
          <ButtonLink
            kind={of.isValid === false ? 'normal' : 'primary'}
            to="/set-up"
            search={{ step: 'resource', credential: id }}
          >
            Continue
          </ButtonLink>
        </CredentialDetails>
      )}
    </Loaded>
  );
}

/** A new resource, or one that is there; then whether the provider knows it. */
function ResourceStep({ types, credentialId, id, go }: OfProvider & { credentialId: string }) {
  const params = { path: { id: credentialId } };
  const credential = $api.useQuery('get', '/api/v1/credentials/{id}', { params });
  if (id !== undefined)
    return <VerifyResource id={id} types={types} onVerified={() => go({ step: 'role' }, true)} />;
  return (
    <Loaded query={credential}>
      {(loaded) => (
        <>
          <UseExisting
            what="resource"
            from="/api/v1/resources"
            query={{ credentialId }}
            onUse={(chosen) => go({ resource: chosen })}
          />
          <Section title="New resource">
            <ResourceForm
              types={types}
              of={{ credential: loaded }}
              onDone={(made) => go({ resource: made.id })}
            />
          </Section>
        </>
      )}
    </Loaded>
  );
}

/** Skips a step with what is there already. @param given `what`: such as "credential" */
function UseExisting(given: {
  what: string;
  from: '/api/v1/credentials' | '/api/v1/resources';
  query?: { credentialId: string };
  onUse: (id: string) => unknown;
}) {
  const { what, from, query = {}, onUse } = given;
  const name = `existing-${what}`;
  const { data } = useList(from, { query: { ...query, size: 1 } });
  if (!data?.total) return null;
  return (
    <Section title={`Use a ${what} that you have`}>
      <Form submit="Use it" submitKind="normal" send={async (entered) => onUse(entered.text(name))}>
        <ChoiceField from={from} query={query} name={name} label={`Existing ${what}`} />
      </Form>
    </Section>
  );
}

/** Who may open the resource: a new role, or one that is there. */
function RoleStep({ resourceId, go }: { resourceId: string; go: Go }) {
  const me = useMe();
  const roles = useList('/api/v1/roles', { query: { size: 1, withMembers: false } });
  const [id, setId] = useState('');
  const send = async (entered: Entered): Promise<string> => {
    const userIds = me.data && entered.checked('mine') ? [me.data.id] : [];
    if (id === '') {
      const body = { name: entered.text('name'), resourceIds: [resourceId], userIds };
      return (await api.POST('/api/v1/roles', { body })).data!.id;
    }
    await api.POST('/api/v1/roles/{id}/resources/{resourceId}', { params: { path: { id, resourceId } } });
    for (const userId of userIds)
      await api.POST('/api/v1/roles/{id}/users/{userId}', { params: { path: { id, userId } } });
    return id;
  };
  return (
    <Loaded query={roles}>
      {({ total }) => (
        <Section title="Role">
          <p>People with this role may open the resource for themselves.</p>
          <Form submit="Save" send={send} onDone={(role) => go({ step: 'done', role })}>
            {total > 0 ? (
              <ChoiceField
                from="/api/v1/roles"
                name="role"
                label="Role"
                none="A new role"
                value={id}
                onChange={setId}
              />
            ) : null}
            {id === '' ? (
              <TextField name="name" label="Name" defaultValue={total === 0 ? 'Developers' : ''} />
            ) : null}
            <CheckField name="mine" label="I have this role, too" defaultChecked />
          </Form>
        </Section>
      )}
    </Loaded>
  );
}

/** The way to the first access; and to invitations, which can be left for later. */
function DoneStep({ resourceId, roleId }: { resourceId: string | undefined; roleId: string | undefined }) {
  const router = useRouter();
  return (
    <Section title="Everything is ready">
      <p>Open it for yourself now, for as long as you need it. Others need an invitation with this role.</p>
      <Row>
        <Action
          kind="primary"
          large
          label="Let me in"
          busy="Opening…"
          act={() => api.POST('/api/v1/sessions', { body: resourceId ? { resourceIds: [resourceId] } : {} })}
          onDone={() => void router.navigate({ to: '/' })}
        />
        <ButtonLink large to="/people/invite" search={{ roleId }}>
          Invite people
        </ButtonLink>
      </Row>
    </Section>
  );
}
