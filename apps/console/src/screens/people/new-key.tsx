import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api, useAll, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import {
  ButtonLink,
  Copyable,
  Form,
  Loaded,
  Notice,
  Page,
  Section,
  SelectField,
  TextField,
  type Entered,
} from '../../ui';
import { KEY_SCOPES, ScopePicker, type Scope } from './parts';

const route = getRouteApi('/signed-in/administrator/automation/keys/new');

const DAY_MS = 24 * 3_600_000;
const LIFETIMES = [
  ['90', 'in 90 days'],
  ['30', 'in 30 days'],
  ['365', 'in a year'],
  ['', 'never: when it is revoked'],
] as const;

/** A key for a program, or for the agent of a host. It is shown once. */
export function NewKey() {
  const { host } = route.useSearch();
  const [created, setCreated] = useState<Schemas['CreatedApiKeyDto'] | null>(null);
  if (created) return <ShownOnce created={created} />;
  return (
    <Page title="Create an API key">
      <Section>
        <Form
          submit="Create the key"
          onDone={setCreated}
          send={async (entered) => (await api.POST('/api/v1/api-keys', { body: bodyOf(entered) })).data!}
        >
          <TextField
            name="name"
            label="Name"
            defaultValue={host}
            maxLength={100}
            help="Such as where it is kept."
          />
          <ActsAs />
          <ScopePicker of={KEY_SCOPES} {...(host === undefined ? {} : { chosen: ['agent:connect'] })} />
          <TextField
            name="agents"
            label="Hosts"
            required={false}
            defaultValue={host}
            help="Only for agents: the hosts that the key may serve. Empty: the first one that uses it."
          />
          <SelectField
            name="expiresAt"
            label="Ends"
            options={LIFETIMES}
            defaultValue={host === undefined ? '90' : ''}
          />
        </Form>
      </Section>
    </Page>
  );
}

function bodyOf(entered: Entered): Schemas['CreateApiKeyDto'] {
  const agents = entered
    .text('agents')
    .split(/[\s,]+/)
    .filter(Boolean);
  const days = entered.number('expiresAt');
  return {
    name: entered.text('name'),
    userId: entered.text('userId'),
    // the API says which there are, and which go together
    scopes: entered.all('scopes') as Scope[],
    agents: agents.length > 0 ? agents : null,
    expiresAt: days > 0 ? new Date(Date.now() + days * DAY_MS).toISOString() : null,
  };
}

function ActsAs() {
  const me = useMe();
  const { userId } = route.useSearch();
  const users = useAll('/api/v1/users', { isActive: true });
  return (
    <Loaded query={users}>
      {(all) => (
        <SelectField
          name="userId"
          label="Acts as"
          defaultValue={userId ?? me.data?.id ?? ''}
          options={all
            .toSorted((one, other) => Number(other.isService) - Number(one.isService))
            .map(({ id, name, email, isService }) => [id, `${name} (${isService ? 'service user' : email})`])}
          help="It reaches the resources of this user’s roles, and ends with the user. For a pipeline, choose a service user."
        />
      )}
    </Loaded>
  );
}

const ShownOnce = ({ created }: { readonly created: Schemas['CreatedApiKeyDto'] }) => (
  <Page title={`The key ${created.name}`}>
    <Section>
      <Notice tone="warn" announced>
        It is shown this once. Copy it to where it belongs before you leave.
      </Notice>
      <Copyable text={created.plainTextKey} label="API key" />
      <div>
        <ButtonLink to="/automation">I have it</ButtonLink>
      </div>
    </Section>
  </Page>
);
