import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { $api, api, asFailure, type Schemas } from '../../api';
import { useEdit } from '../../parts/edits';
import { defined } from '../../parts/search';
import { Lines, Reason } from '../../parts/words';
import { Action, Badge, CheckField, ConfirmButton, Copyable, Facts, Form, Loaded } from '../../ui';
import { Notice, Page, Row, Section, Table, TextField, type Column, type Entered } from '../../ui';
import { GroupMappings } from './group-mappings';
import { Identities } from './identities';

const route = getRouteApi('/signed-in/administrator/organization/providers/$id');

type ProviderData = Schemas['IdentityProviderDto'];
type Answer = Schemas['IdentityProviderTestDto'];

/** A provider that is to be: it is set up at the other side first. */
export function NewProvider() {
  const navigate = useNavigate();
  const organization = $api.useQuery('get', '/api/v1/organization');
  return (
    <Page title="Add an identity provider">
      <Section title="First, at the provider">
        <Loaded query={organization}>{({ ssoRedirectUri }) => <RedirectUri of={ssoRedirectUri} />}</Loaded>
      </Section>
      <Section title="Then, here">
        <Form
          submit="Add the provider"
          send={async (entered) => {
            const body = { ...enteredIn(entered), clientSecret: entered.raw('clientSecret') };
            const { id } = (await api.POST('/api/v1/identity-providers', { body })).data!;
            await navigate({ to: '/organization/providers/$id', params: { id }, search: { test: 'now' } });
          }}
        >
          <Fields />
        </Form>
      </Section>
    </Page>
  );
}

/** One identity provider: whether it works, its set-up, its groups, and who signs in by it. */
export function Provider() {
  const { id } = route.useParams();
  const { test } = route.useSearch();
  const provider = $api.useQuery('get', '/api/v1/identity-providers/{id}', { params: { path: { id } } });
  return (
    <Loaded query={provider}>
      {(data) => (
        <Page key={id} title={data.name} lead={data.issuer} actions={<State provider={data} />}>
          <Test provider={data} isAtOnce={test === 'now'} />
          <Section title="People who signed in with it">
            <Identities providerId={id} />
          </Section>
          <Section title="Groups">
            <GroupMappings provider={data} />
          </Section>
          <Section title="Set-up">
            <RedirectUri of={data.redirectUri} />
            <Change provider={data} />
          </Section>
        </Page>
      )}
    </Loaded>
  );
}

function Change({ provider }: { provider: ProviderData }) {
  const { id } = provider;
  const edit = useEdit(provider, () => read(id));
  const send = (entered: Entered): Promise<unknown> => {
    const clientSecret = entered.raw('clientSecret') || undefined;
    return edit({ ...enteredIn(entered), ...defined({ clientSecret }) }, (body) => change(id, body));
  };
  return (
    <Form submit="Save" done="Saved." send={send}>
      <Fields provider={provider} />
    </Form>
  );
}

const read = (id: string) => api.GET('/api/v1/identity-providers/{id}', { params: { path: { id } } });

const change = (id: string, body: Schemas['UpdateIdentityProviderDto']) =>
  api.PATCH('/api/v1/identity-providers/{id}', { params: { path: { id } }, body });

function State({ provider: { id, name, enabled } }: { provider: ProviderData }) {
  const navigate = useNavigate();
  const verb = enabled ? 'Disable' : 'Enable';
  return (
    <Row>
      <ConfirmButton
        kind="normal"
        label={verb}
        title={`${verb} ${name}?`}
        act={() => change(id, { enabled: !enabled })}
      >
        <p>
          People sign in by it while it is enabled. Once it is disabled, the sign-ins by it end, and no user
          asks it about leavers: access that is open then and API keys go on.
        </p>
      </ConfirmButton>
      <ConfirmButton
        label="Delete"
        title={`Delete ${name}?`}
        act={() => api.DELETE('/api/v1/identity-providers/{id}', { params: { path: { id } } })}
        onDone={() => navigate({ to: '/organization', search: { tab: 'company-sign-in' } })}
      >
        <p>The sign-ins by it end. The users stay; who has no password needs a link for one.</p>
      </ConfirmButton>
    </Row>
  );
}

/** Whether people sign in by it, and what went wrong last. */
export const ProviderStatus = ({ of: { enabled, lastError } }: { of: ProviderData }) => (
  <Lines>
    <Badge tone={enabled ? (lastError === null ? 'good' : 'warn') : 'neutral'}>
      {enabled ? 'Enabled' : 'Disabled'}
    </Badge>
    {lastError === null ? null : <Reason isBad>{lastError}</Reason>}
  </Lines>
);

const CHECKS: readonly Column<Answer['checks'][number]>[] = [
  {
    head: 'Result',
    cell: ({ ok }) => <Badge tone={ok ? 'good' : 'warn'}>{ok ? 'passed' : 'not passed'}</Badge>,
  },
  { head: 'Check', cell: ({ message }) => message },
];

/** Its state, and what a test finds. @param isAtOnce it was just added: the first test begins by itself */
function Test({ provider, isAtOnce }: { provider: ProviderData; isAtOnce: boolean }) {
  const { id } = provider;
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const test = useCallback(async (): Promise<void> => {
    setFailure(null);
    setAnswer((await api.POST('/api/v1/identity-providers/{id}/test', { params: { path: { id } } })).data!);
  }, [id]);
  useEffect(() => {
    if (isAtOnce) test().catch((error: unknown) => setFailure(asFailure(error).message));
  }, [isAtOnce, test]);
  return (
    <Section title="Provider" actions={<Action label="Test it" kind="primary" busy="Testing…" act={test} />}>
      <Facts of={{ Status: <ProviderStatus of={provider} />, 'Added by': provider.createdByEmail }} />
      {failure === null ? null : <Notice tone="bad">{failure}</Notice>}
      {answer ? (
        <>
          <Notice tone={answer.ok ? 'good' : 'bad'} announced>
            {answer.ok ? 'It is set up. Sign in by it once to be sure.' : 'It does not work yet.'}
          </Notice>
          <Table
            caption="Checks"
            columns={CHECKS}
            rows={answer.checks}
            keyOf={({ name }) => name}
            empty={null}
          />
        </>
      ) : null}
    </Section>
  );
}

/** What the other side has to know. */
const RedirectUri = ({ of }: { of: string }) => (
  <>
    <p>At the provider, register a web application with a client secret, and this redirect URI:</p>
    <Copyable text={of} label="Redirect URI" />
  </>
);

const ISSUER_HELP =
  'What comes before /.well-known/openid-configuration. Google: https://accounts.google.com. Entra ID: https://login.microsoftonline.com/TENANT-ID/v2.0. Okta: https://COMPANY.okta.com. Keycloak: https://HOST/realms/REALM.';
const TEXTS = [
  { name: 'name', label: 'Name', help: 'It is on the button that people press.' },
  { name: 'issuer', label: 'Issuer', type: 'url', placeholder: 'https://', help: ISSUER_HELP },
  { name: 'clientId', label: 'Client ID' },
] as const;

/** @param provider left out: a new one */
const Fields = ({ provider }: { provider?: ProviderData }) => (
  <>
    {TEXTS.map((field) => (
      <TextField key={field.name} {...field} defaultValue={provider?.[field.name] ?? ''} />
    ))}
    <TextField
      name="clientSecret"
      label="Client secret"
      type="password"
      autoComplete="new-password"
      required={provider === undefined}
      help={provider ? 'Empty: it stays as it is.' : undefined}
    />
    <TextField
      name="emailDomains"
      label="E-mail domains"
      required={false}
      placeholder="example.com"
      defaultValue={provider?.emailDomains.join(', ')}
      help="Whom you invited at these domains is let in when the provider says that the address is verified. Empty: an administrator links each person."
    />
    <CheckField
      name="createUsers"
      label="People of these domains need no invitation"
      defaultChecked={provider?.createUsers ?? false}
    />
    <CheckField
      name="trustsSecondFactor"
      label="A second factor that was passed at the provider counts here"
      defaultChecked={provider?.trustsSecondFactor ?? false}
    />
    <TextField
      name="groupsClaim"
      label="Groups claim"
      required={false}
      placeholder="groups"
      defaultValue={provider?.groupsClaim ?? ''}
      help="Where the ID token names the groups of a person, which can decide roles."
    />
  </>
);

const enteredIn = (entered: Entered) => ({
  name: entered.text('name'),
  issuer: entered.text('issuer'),
  clientId: entered.text('clientId'),
  emailDomains: entered.text('emailDomains').match(/[^\s,;]+/g) ?? [],
  createUsers: entered.checked('createUsers'),
  trustsSecondFactor: entered.checked('trustsSecondFactor'),
  groupsClaim: entered.optional('groupsClaim') ?? null,
});
