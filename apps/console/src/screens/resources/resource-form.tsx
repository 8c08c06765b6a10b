import { useRef, useState } from 'react';
import { api, Failure, useList } from '../../api';
import { ChoiceField } from '../../parts/choosing';
import { useEdit } from '../../parts/edits';
import { labelsIn, labelsText, ownLabelsOf } from '../../parts/labels';
import { count, sentence } from '../../parts/words';
import { isForMany, providerOf, type Credential, type ProviderTypes, type Resource } from '../../parts/types';
import { CheckField, Form, Notice, SelectField, Stack, TextField } from '../../ui';
import { ConfigField, configOf } from './fields';

/** What its provider reported on a resource that it accepts. */
export const Warnings = ({ of }: { of: readonly string[] }) =>
  of.map((warning) => (
    <Notice key={warning} tone="warn" announced>
      {sentence(warning)}
    </Notice>
  ));

interface ResourceFormProps {
  readonly types: readonly ProviderTypes[];
  /** the credential of a new one, or the resource to change */
  readonly of: { readonly credential: Credential } | { readonly resource: Resource };
  readonly onDone?: (resource: Resource) => void;
}

/** Makes or changes a resource. The fields are those of its type. */
export function ResourceForm({ types, of, onDone }: ResourceFormProps) {
  const resource = 'resource' in of ? of.resource : undefined;
  const [typeName, setTypeName] = useState(resource?.resourceType);
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const params = { path: { id: resource?.id ?? '' } };
  const edit = useEdit(resource ? ownLabelsOf(resource) : {}, async () => ({
    data: ownLabelsOf((await api.GET('/api/v1/resources/{id}', { params })).data!),
  }));
  const shown = useRef('');
  /** A change that widens or moves access is sent with the second click, which follows what it does. */
  const tellOnce = (effect: string): void => {
    if (effect === shown.current) return;
    shown.current = effect;
    if (effect !== '') throw new Failure(`Not saved yet. ${effect} Save again to do it.`, 0, 'CONFIRMATION');
  };
  const provider = providerOf(types, 'resource' in of ? of.resource : of.credential);
  const kinds = provider.resourceTypes;
  const type = kinds.find(({ resourceType }) => resourceType === typeName) ?? kinds[0]!;
  const needsAccount = 'credential' in of && isForMany(of.credential);
  const ofProvider = { provider: provider.provider };
  const others = useList('/api/v1/credentials', { query: { ...ofProvider, size: 1 } });
  return (
    <Form
      submit={resource ? 'Save' : 'Save and verify'}
      {...(resource ? { done: 'Saved.' } : {})}
      {...(onDone ? { onDone } : {})}
      send={async (entered) => {
        const common = {
          name: entered.text('name'),
          credentialId:
            'credential' in of
              ? of.credential.id
              : (entered.optional('credentialId') ?? of.resource.credentialId),
          resourceIdentifier: entered.text('resourceIdentifier'),
          ...(type.region ? { region: entered.text('region') } : {}),
          endpoint: entered.optional('endpoint') ?? null,
          ...(needsAccount ? { account: entered.text('account') } : {}),
          config: configOf(entered, type, resource?.config),
          ...(resource ? { labels: labelsIn(entered.text('labels')) } : {}),
        };
        if (!resource) {
          const body = { ...common, provider: provider.provider, resourceType: type.resourceType };
          return (await api.POST('/api/v1/resources', { body })).data!;
        }
        const form = { ...common, ...(entered.checked('releasePorts') ? { releasePorts: true } : {}) };
        await edit(form, async (body) => {
          tellOnce(await effectOf(resource, body));
          const changed = await api.PATCH('/api/v1/resources/{id}', { params, body });
          setWarnings(changed.data!.warnings);
          return { data: ownLabelsOf(changed.data!) };
        });
        return resource;
      }}
    >
      {resource && others.data && others.data.total > 1 ? (
        <ChoiceField
          from="/api/v1/credentials"
          query={ofProvider}
          name="credentialId"
          label="Credential"
          defaultValue={resource.credentialId}
        />
      ) : null}
      {!resource && kinds.length > 1 ? (
        <SelectField
          name="resourceType"
          label="What to open"
          value={type.resourceType}
          onChange={setTypeName}
          options={kinds.map((each) => [each.resourceType, each.label])}
        />
      ) : null}
      <Stack key={`${provider.provider} ${type.resourceType}`}>
        <TextField
          name="resourceIdentifier"
          label={type.label}
          help={sentence(type.identifier.description)}
          placeholder={type.identifier.example}
          defaultValue={resource?.resourceIdentifier}
        />
        {needsAccount ? (
          <TextField
            name="account"
            label="Account"
            help="The credential is for many: which one it is in."
            placeholder="123456789012"
          />
        ) : null}
        {type.region ? (
          <TextField
            name="region"
            label="Region"
            placeholder={type.region.example}
            defaultValue={resource?.region}
          />
        ) : null}
        {type.config.map((field) => (
          <ConfigField key={field.name} field={field} config={resource?.config} />
        ))}
        <TextField name="name" label="Name" help="As people see it." defaultValue={resource?.name} />
        <TextField
          name="endpoint"
          label="Address to connect to"
          help="Host and port, shown to people once access is open."
          placeholder="db.example.com:5432"
          defaultValue={resource?.endpoint ?? ''}
          required={false}
        />
        {resource ? (
          <TextField
            name="labels"
            label="Labels"
            placeholder="env=prod, team=web"
            help="Roles can select by them. People who reach it see them."
            defaultValue={labelsText(resource)}
            required={false}
          />
        ) : null}
        {resource && provider.needsAgent ? (
          <CheckField
            name="releasePorts"
            label="Open the ports that I remove: the host guards them no more"
          />
        ) : null}
      </Stack>
      <Warnings of={warnings} />
    </Form>
  );
}

const portsOf = ({ port, ports }: Resource['config']): unknown => ports ?? port;

/** What a change does to access, also to what is open; empty: nothing. */
async function effectOf({ id, config }: Resource, changes: Partial<Resource>): Promise<string> {
  const isEveryPort =
    changes.config && portsOf(changes.config) === undefined && portsOf(config) !== undefined;
  const isMoved = changes.config ?? changes.credentialId ?? changes.region ?? changes.resourceIdentifier;
  if (isMoved === undefined) return '';
  const query = { resourceId: id, active: true, size: 1 };
  const { response } = await api.GET('/api/v1/sessions/admin', { params: { query } });
  const open = Number(response.headers.get('X-Total-Count'));
  const moved = open === 0 ? '' : `The rules of ${count(open, 'open session')} follow.`;
  return [isEveryPort ? 'Without ports, it opens every port.' : '', moved].filter(Boolean).join(' ');
}
