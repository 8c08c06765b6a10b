import { useState } from 'react';
import { api, type Schemas } from '../../api';
import { CheckField, Form, Notice, SelectField, Stack, TextField } from '../../ui';
import { ConfigField, configOf } from './config-field';
import { providerOf, sentence, type ProviderTypes, type ResourceType } from './types';

type Resource = Schemas['ResourceDto'];

interface Props {
  readonly types: readonly ProviderTypes[];
  /** to choose from: at least one for a new resource */
  readonly credentials: readonly Schemas['CredentialDto'][];
  /** chosen at first */
  readonly credentialId?: string | undefined;
  /** to change; left out: a new one */
  readonly resource?: Resource;
  readonly submit: string;
  readonly onDone?: (resource: Resource) => void;
}

/** Makes or changes a resource. The fields are those of its type. */
export function ResourceForm({ types, credentials, credentialId, resource, submit, onDone }: Props) {
  const [chosen, setChosen] = useState(resource?.credentialId ?? credentialId);
  const credential = credentials.find(({ id }) => id === chosen) ?? credentials[0];
  const provider = providerOf(types, resource ?? credential!)!;
  const [typeName, setTypeName] = useState(resource?.resourceType);
  const type =
    provider.resourceTypes.find(({ resourceType }) => resourceType === typeName) ??
    provider.resourceTypes[0]!;
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const usable = resource ? credentials.filter((each) => each.provider === resource.provider) : credentials;
  return (
    <Form
      submit={submit}
      {...(resource ? { done: 'Saved.' } : {})}
      {...(onDone ? { onDone } : {})}
      send={async (entered) => {
        const common = {
          name: entered.text('name'),
          credentialId: resource ? chosen! : credential!.id,
          resourceIdentifier: entered.text('resourceIdentifier'),
          ...(provider.region ? { region: entered.text('region') } : {}),
          endpoint: entered.optional('endpoint') ?? null,
          config: configOf(entered, type, resource?.config),
        };
        if (resource) {
          const releasePorts = entered.checked('releasePorts') ? { releasePorts: true } : {};
          const params = { path: { id: resource.id } };
          const changed = (
            await api.PATCH('/api/v1/resources/{id}', { params, body: { ...common, ...releasePorts } })
          ).data!;
          setWarnings(changed.warnings);
          return changed;
        }
        const body = { ...common, provider: provider.provider, resourceType: type.resourceType };
        return (await api.POST('/api/v1/resources', { body })).data!;
      }}
    >
      {usable.length > 1 ? (
        <SelectField
          name="credentialId"
          label="Credential"
          value={chosen ?? usable[0]!.id}
          onChange={setChosen}
          options={usable.map(({ id, name }) => [id, name])}
        />
      ) : null}
      {!resource && provider.resourceTypes.length > 1 ? (
        <SelectField
          name="resourceType"
          label="What to open"
          value={type.resourceType}
          onChange={setTypeName}
          options={provider.resourceTypes.map((each) => [each.resourceType, each.label])}
        />
      ) : null}
      <Stack key={`${provider.provider} ${type.resourceType}`}>
        <Fields provider={provider} type={type} resource={resource} />
      </Stack>
      {warnings.map((warning) => (
        <Notice key={warning} tone="warn" announced>
          {sentence(warning)}
        </Notice>
      ))}
    </Form>
  );
}

interface FieldsProps {
  readonly provider: ProviderTypes;
  readonly type: ResourceType;
  readonly resource: Resource | undefined;
}

const Fields = ({ provider, type, resource }: FieldsProps) => (
  <>
    <TextField
      name="resourceIdentifier"
      label={type.label}
      help={sentence(type.identifier.description)}
      placeholder={type.identifier.example}
      defaultValue={resource?.resourceIdentifier}
    />
    {provider.region ? (
      <TextField
        name="region"
        label="Region"
        placeholder={provider.region.example}
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
        label="Stop guarding the ports that I remove here"
        help="Otherwise the host keeps them closed."
      />
    ) : null}
  </>
);
