import { useRef, useState } from 'react';
import { api, Failure } from '../../api';
import { useEdit } from '../../parts/edits';
import { count, sentence } from '../../parts/words';
import { CheckField, Form, Notice, SelectField, Stack, TextField } from '../../ui';
import { ConfigField, configOf } from './fields';
import { providerOf, type Credential, type ProviderTypes, type Resource } from './types';

/** What its provider reported on a resource that it accepts. */
export const Warnings = ({ of }: { of: readonly string[] }) =>
  of.map((warning) => (
    <Notice key={warning} tone="warn" announced>
      {sentence(warning)}
    </Notice>
  ));

interface ResourceFormProps {
  readonly types: readonly ProviderTypes[];
  /** to choose from: at least one */
  readonly credentials: readonly Credential[];
  /** to change; left out: a new one */
  readonly resource?: Resource;
  readonly onDone?: (resource: Resource) => void;
}

/** Makes or changes a resource. The fields are those of its type. */
export function ResourceForm({ types, credentials, resource, onDone }: ResourceFormProps) {
  const [credentialId, setCredential] = useState(resource?.credentialId ?? credentials[0]!.id);
  const [typeName, setTypeName] = useState(resource?.resourceType);
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const params = { path: { id: resource?.id ?? '' } };
  const edit = useEdit(resource ?? {}, () => api.GET('/api/v1/resources/{id}', { params }));
  const shown = useRef('');
  /** A change that widens or moves access is sent with the second click, which follows what it does. */
  const tellOnce = (effect: string): void => {
    if (effect === shown.current) return;
    shown.current = effect;
    if (effect !== '') throw new Failure(`Not saved yet. ${effect} Save again to do it.`, 0, 'CONFIRMATION');
  };
  const usable = credentials.filter(({ provider }) => !resource || provider === resource.provider);
  const provider = providerOf(types, resource ?? credentials[0]!);
  const kinds = provider.resourceTypes;
  const type = kinds.find(({ resourceType }) => resourceType === typeName) ?? kinds[0]!;
  return (
    <Form
      submit={resource ? 'Save' : 'Save and verify'}
      {...(resource ? { done: 'Saved.' } : {})}
      {...(onDone ? { onDone } : {})}
      send={async (entered) => {
        const common = {
          name: entered.text('name'),
          credentialId,
          resourceIdentifier: entered.text('resourceIdentifier'),
          ...(type.region ? { region: entered.text('region') } : {}),
          endpoint: entered.optional('endpoint') ?? null,
          config: configOf(entered, type, resource?.config),
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
          return changed;
        });
        return resource;
      }}
    >
      {usable.length > 1 ? (
        <SelectField
          name="credentialId"
          label="Credential"
          value={credentialId}
          onChange={setCredential}
          options={usable.map(({ id, name }) => [id, name])}
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
