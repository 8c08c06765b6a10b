import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api, serverNow, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { ChoiceField } from '../../parts/choosing';
import { Collection } from '../../parts/collection';
import { stateFilter } from '../../parts/filters';
import { Badge, ConfirmButton, CopiedButton, Copyable, Empty, Form, Notice, Page } from '../../ui';
import { Row, Section, SelectField, TextField, Time, unbroken, type Column, type Entered } from '../../ui';
import { Lines, UserLink } from '../../parts/words';
import { JOB_SCOPES, ScopePicker } from './parts';

const route = getRouteApi('/signed-in/administrator/automation/keys/new');

type Key = Schemas['ApiKeyDto'];

const COLUMNS: readonly Column<Key>[] = [
  { head: 'Name', sort: 'name', cell: ({ name, keyPrefix }) => `${name} (${keyPrefix}…)` },
  { head: 'Acts as', cell: ({ userId, userEmail }) => <UserLink id={userId}>{userEmail}</UserLink> },
  { head: 'Scopes', cell: ({ scopes, agents }) => [...scopes, ...agents].join(', ') },
  {
    head: 'Last used',
    sort: 'lastUsedAt',
    cell: ({ lastUsedAt, lastUsedIp }) => (
      <Lines>
        <Time at={lastUsedAt} none="never" />
        {lastUsedIp && unbroken(`from ${lastUsedIp}`)}
      </Lines>
    ),
  },
  { head: 'Ends', sort: 'expiresAt', cell: (key) => <End of={key} /> },
  { head: '', cell: (key) => (key.isRevoked ? null : <Revoke of={key} />) },
];

const STATES = { VALID: 'valid', ENDING: 'ends soon', EXPIRED: 'expired', REVOKED: 'revoked' };

/** Keys, newest first. @param userId only those of one user */
export const Keys = ({ userId }: { userId?: string }) => (
  <Collection
    caption="API keys"
    path="/api/v1/api-keys"
    query={{ userId }}
    columns={COLUMNS}
    search="name, prefix, user"
    filters={[stateFilter(STATES)]}
    sort="-createdAt"
    empty={<Empty title="There is no key yet. For a pipeline, create one of a service user." />}
  />
);

function End({ of: { isRevoked, expiresAt } }: { of: Key }) {
  if (isRevoked) return <Badge>Revoked</Badge>;
  if (expiresAt && new Date(expiresAt).getTime() < serverNow()) return <Badge tone="warn">Expired</Badge>;
  return <Time at={expiresAt} none="no end" />;
}

const Revoke = ({ of: { id, name, keyPrefix, userEmail } }: { of: Key }) => (
  <ConfirmButton
    label="Revoke"
    title={`Revoke the key ${name}?`}
    ends={{ meanwhile: 'Until then, the key may be used.' }}
    act={(_, signal) => api.DELETE('/api/v1/api-keys/{id}', { params: { path: { id } }, signal })}
  >
    <p>
      {unbroken(`${keyPrefix}… of ${userEmail}`)} is invalid from the next request on. Sessions that it
      started continue until they end.
    </p>
  </ConfirmButton>
);

const SCOPES: Readonly<Record<Schemas['Scope'], string>> = {
  ...JOB_SCOPES,
  'audit:read': 'Read the audit trail (keys of administrators)',
  'agent:connect': 'Serve hosts as their agent',
};
const DAY_MS = 24 * 3_600_000;
const LIFETIMES = [
  ['90', 'in 90 days'],
  ['30', 'in 30 days'],
  ['365', 'in a year'],
  ['', 'never: when it is revoked'],
] as const;

/** A key for a program, or for the agent of a host. It is shown once. */
export function NewKey() {
  const me = useMe().data;
  const navigate = route.useNavigate();
  const { userId = me?.id ?? '' } = route.useSearch();
  const [created, setCreated] = useState<Schemas['CreatedApiKeyDto'] | null>(null);
  if (created !== null)
    return (
      <Page title={`The key ${created.name}`}>
        <Section>
          <Notice tone="warn" announced>
            It is shown this once. Copy it to where it belongs before you leave.
          </Notice>
          <Copyable text={created.plainTextKey} label="API key" />
          <Row>
            <CopiedButton onCopied={() => void navigate({ to: '/automation' })} />
          </Row>
        </Section>
      </Page>
    );
  return (
    <Page title="Create an API key">
      <Section>
        <Form
          submit="Create the key"
          onDone={setCreated}
          send={async (entered) => (await api.POST('/api/v1/api-keys', { body: bodyOf(entered) })).data!}
        >
          <TextField name="name" label="Name" maxLength={100} />
          <ChoiceField
            from="/api/v1/users"
            query={{ isActive: true }}
            name="userId"
            label="Acts as"
            defaultValue={userId}
            help="It reaches the resources of this user’s roles, and ends with the user. For a pipeline, choose a service user."
          />
          <ScopePicker of={SCOPES} />
          <TextField
            name="agents"
            label="Hosts"
            required={false}
            help="Only for agents: the hosts that the key may serve. Empty: the first one that uses it."
          />
          <SelectField name="expiresAt" label="Ends" options={LIFETIMES} defaultValue="90" />
        </Form>
      </Section>
    </Page>
  );
}

function bodyOf(entered: Entered): Schemas['CreateApiKeyDto'] {
  const agents = entered.text('agents').match(/[^\s,]+/g);
  const days = entered.number('expiresAt');
  return {
    name: entered.text('name'),
    userId: entered.text('userId'),
    // the API says which there are, and which go together
    scopes: entered.all('scopes') as Schemas['Scope'][],
    agents,
    expiresAt: days > 0 ? new Date(serverNow() + days * DAY_MS).toISOString() : null,
  };
}
