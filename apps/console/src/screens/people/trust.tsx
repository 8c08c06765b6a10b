import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, type Schemas } from '../../api';
import { Badge, ConfirmButton, Copyable, Facts, Form, Loaded, Muted, Notice, Page, Row } from '../../ui';
import { Code, Section, Table, TextArea, TextField, Time, type Column, type Entered } from '../../ui';
import { useEdit } from '../../parts/edits';
import { JOB_SCOPES, ScopePicker } from './parts';
import { UserLink } from '../../parts/words';
import { Ends } from './ends';
import { conditionsOf, linesOf, PRESETS, TrustStatus, type Trust as TrustData } from './trusts';

const route = getRouteApi('/signed-in/administrator/automation/trusts/$id');

type Check = Schemas['TokenCheckDto'];

export function Trust() {
  const { id } = route.useParams();
  const trust = $api.useQuery('get', '/api/v1/oidc-trusts/{id}', { params: { path: { id } } });
  return <Loaded query={trust}>{(data) => <Shown key={id} trust={data} />}</Loaded>;
}

const change = (id: string, body: Schemas['UpdateOidcTrustDto']) =>
  api.PATCH('/api/v1/oidc-trusts/{id}', { params: { path: { id } }, body });

const Shown = ({ trust }: { trust: TrustData }) => (
  <Page
    title={trust.name}
    lead={`${PRESETS[trust.preset]}: jobs that meet all conditions act as its service user.`}
    actions={<State trust={trust} />}
  >
    {trust.warnings.map((warning) => (
      <Notice key={warning} tone="warn">
        {warning}
      </Notice>
    ))}
    <Section title="Trust">
      <Facts
        of={{
          Status: <TrustStatus of={trust} />,
          Issuer: trust.issuer,
          Audience: <Code>{trust.audience}</Code>,
          'Service user': <UserLink id={trust.serviceUserId}>{trust.serviceUserEmail}</UserLink>,
          'Last used': <Time at={trust.lastUsedAt} none="never" />,
        }}
      />
    </Section>
    <Section title="Lines for the job">
      <Copyable text={linesFor(trust)} label="Lines for the job" />
      <Muted>They open whatever the roles of the service user reach.</Muted>
    </Section>
    <Section title="Why is a token refused?">
      <Explain id={trust.id} />
    </Section>
    <Section title="Conditions and scopes">
      <Change trust={trust} />
    </Section>
  </Page>
);

const enteredIn = (entered: Entered) => ({
  name: entered.text('name'),
  conditions: conditionsOf(entered.text('conditions')),
  scopes: entered.all('scopes') as TrustData['scopes'],
});

/** Conditions and scopes that are sent end access tokens: they are sent when they are other ones. */
function Change({ trust }: { trust: TrustData }) {
  const { id } = trust;
  const edit = useEdit(trust, () => api.GET('/api/v1/oidc-trusts/{id}', { params: { path: { id } } }));
  return (
    <Form
      submit="Save"
      done="Saved."
      send={(entered) => edit(enteredIn(entered), (body) => change(id, body))}
    >
      <TextField name="name" label="Name" defaultValue={trust.name} maxLength={100} />
      <TextArea
        name="conditions"
        label="Conditions"
        defaultValue={linesOf(trust.conditions).join('\n')}
        help="A claim and an allowed value on each line. Running jobs lose their access tokens when conditions or scopes change; their sessions continue."
      />
      <ScopePicker of={JOB_SCOPES} chosen={trust.scopes} />
    </Form>
  );
}

function State({ trust: { id, name, isEnabled, serviceUserId } }: { trust: TrustData }) {
  const navigate = useNavigate();
  return (
    <Row>
      <ConfirmButton
        kind="normal"
        label={isEnabled ? 'Disable' : 'Enable'}
        title={`${isEnabled ? 'Disable' : 'Enable'} the trust ${name}?`}
        act={() => change(id, { isEnabled: !isEnabled })}
      >
        <p>Jobs get access tokens while it is enabled. Open sessions continue until they end.</p>
      </ConfirmButton>
      <ConfirmButton
        label="Delete"
        title={`Delete the trust ${name}?`}
        ends={{}}
        act={(_, signal) => api.DELETE('/api/v1/oidc-trusts/{id}', { params: { path: { id } }, signal })}
        onDone={() => navigate({ to: '/automation', search: { tab: 'trusts' } })}
      >
        <p>No job is let in any more, and its service user is deleted.</p>
        <Ends userId={serviceUserId} />
      </ConfirmButton>
    </Row>
  );
}

const CHECKS: readonly Column<Check>[] = [
  { head: 'Result', cell: ({ ok }) => <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'met' : 'not met'}</Badge> },
  { head: 'Condition', cell: ({ claim }) => <Code>{claim}</Code> },
  { head: 'Expected', cell: ({ wanted }) => wanted },
  { head: 'Found', cell: ({ found }) => found ?? <Muted>absent</Muted> },
];

/** Compares a pasted ID token with a trust. The token is in the text area alone, and gone once there is an answer. */
function Explain({ id }: { id: string }) {
  const [answers, setAnswers] = useState<readonly (readonly Check[])[]>([]);
  const checks = answers.at(-1) ?? [];
  const failed = checks.filter(({ ok }) => !ok).map(({ claim }) => claim);
  return (
    <>
      <Form
        // with the next form, nothing has the token any more
        key={answers.length}
        submit="Explain"
        onDone={(answer: readonly Check[]) => setAnswers([...answers, answer])}
        send={async (entered) => {
          const given = { params: { path: { id } }, body: { idToken: entered.text('idToken') } };
          return (await api.POST('/api/v1/oidc-trusts/{id}/explain', given)).data!;
        }}
      >
        <TextArea
          name="idToken"
          label="ID token of a job"
          autoComplete="off"
          help="It is compared and forgotten; the job can still use it."
        />
      </Form>
      {checks.length > 0 ? (
        <Notice tone={failed.length === 0 ? 'good' : 'bad'} announced>
          {failed.length === 0 ? 'Accepted.' : `Refused. Not as expected: ${failed.join(', ')}.`}
        </Notice>
      ) : null}
      <Table
        caption="Checks of the token"
        rows={checks}
        keyOf={({ claim, wanted }) => `${claim} ${wanted}`}
        empty={null}
        columns={CHECKS}
      />
    </>
  );
}

/** What to paste into a CI job. */
function linesFor({ preset, audience }: TrustData): string {
  const url = audience.replace(/\/o\/[^/]+$/, '');
  if (preset === 'GITHUB')
    return `permissions: { id-token: write, contents: read }
steps:
  - uses: your-organization/drawbridge/apps/action@COMMIT
    with:
      url: ${url}
      trust: ${audience}
  - run: ./deploy.sh`;
  if (preset === 'HCP_TERRAFORM')
    return `# environment variables of the workspace
TFC_WORKLOAD_IDENTITY_AUDIENCE_DRAWBRIDGE=${audience}
DRAWBRIDGE_URL=${url}

ephemeral "drawbridge_access" "database" {
  resources = ["database"]
}

provider "postgresql" {
  host = ephemeral.drawbridge_access.database.host
  port = ephemeral.drawbridge_access.database.port
}`;
  const token = {
    GITLAB: `# id_tokens: { DRAWBRIDGE_ID_TOKEN: { aud: '${audience}' } }`,
    BUILDKITE: `export DRAWBRIDGE_ID_TOKEN=$$(buildkite-agent oidc request-token --claim organization_id --claim pipeline_id --audience ${audience})`,
    CUSTOM: `export DRAWBRIDGE_ID_TOKEN=… # issued for ${audience}`,
  }[preset];
  return `${token}
export DRAWBRIDGE_URL=${url}
curl -fsSLO ${url}/downloads/drawbridge.mjs
node drawbridge.mjs run -- ./deploy.sh`;
}
