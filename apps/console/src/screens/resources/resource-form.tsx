import { useState } from 'react';
import { api } from '../../api';
import { sentence } from '../../parts/words';
import { CheckField, Form, Notice, SelectField, Stack, TextField } from '../../ui';
import { ConfigField, configOf } from './fields';
import { providerOf, type Credential, type ProviderTypes, type Resource } from './types';

/** What its provider said of a resource that it accepts. */
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
        const params = { path: { id: resource.id } };
        const body = { ...common, ...(entered.checked('releasePorts') ? { releasePorts: true } : {}) };
        const changed = (await api.PATCH('/api/v1/resources/{id}', { params, body })).data!;
        setWarnings(changed.warnings);
        return changed;
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
