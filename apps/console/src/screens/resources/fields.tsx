import { useState } from 'react';
import type { Schemas } from '../../api';
import { sentence } from '../../parts/words';
import type { CredentialType, ResourceType } from '../../parts/types';
import { SelectField, TextArea, TextField, type Entered } from '../../ui';

type ConfigFieldDto = Schemas['ConfigFieldDto'];
type CredentialField = Schemas['CredentialFieldDto'];
type Config = Schemas['ResourceConfigDto'];
type Value = string | number | readonly (string | number)[] | null | undefined;

const currentOf = (config: Config | undefined, name: string): Value =>
  (config as Readonly<Record<string, Value>> | undefined)?.[name];

const textOf = (value: Value): string => (Array.isArray(value) ? value.join(', ') : (value ?? '').toString());

/** A field of a resource's config, as its type describes it. */
export function ConfigField({ field, config }: { field: ConfigFieldDto; config: Config | undefined }) {
  const { type, required, choices, example, minimum, maximum } = field;
  const isList = type === 'integers' || type === 'texts';
  const given = {
    name: `config.${field.name}`,
    label: field.label,
    help: `${choices ? field.description : sentence(field.description)}${isList ? '; separated by commas' : ''}`,
    required,
    defaultValue: textOf(currentOf(config, field.name)),
  };
  if (choices) {
    const options = choices.map((choice) => [choice, choice] as const);
    return <SelectField {...given} options={required ? options : [['', 'not set'], ...options]} />;
  }
  const number = type === 'integer' ? { type: 'number', min: minimum, max: maximum } : {};
  return <TextField {...given} placeholder={textOf(example)} {...number} />;
}

function valueOf({ name, type }: ConfigFieldDto, text: string, config: Config | undefined): unknown {
  // null means that there is no limit, which no number says: it stays until a number is entered
  if (text === '') return currentOf(config, name) === null ? null : undefined;
  if (type === 'text') return text;
  if (type === 'integer') return Number(text);
  const items = text.split(/[\s,]+/).filter(Boolean);
  return type === 'integers' ? items.map(Number) : items;
}

/** What was entered, for a request. @param config as it is now */
export function configOf(entered: Entered, type: ResourceType, config?: Config): Config {
  const values = type.config.map(
    (field) => [field.name, valueOf(field, entered.text(`config.${field.name}`), config)] as const,
  );
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** What a config says, by its fields' labels: "Port 5432 · Protocol tcp" */
export function configText(type: ResourceType, config: Config): string {
  const given = Object.entries(config).map(([name, value]) => {
    const label = type.config.find((field) => field.name === name)?.label ?? name;
    return `${label} ${value === null ? 'no limit' : textOf(value)}`;
  });
  return given.join(' · ');
}

/** A field that takes one text only is no question. */
const constantOf = ({ form }: CredentialField): string | undefined =>
  /^\^(\w+)\$$/.exec(form?.pattern ?? '')?.[1];

const isMultiline = ({ form }: CredentialField): boolean => form?.example.includes('\n') ?? false;

interface CredentialFieldsProps {
  readonly type: CredentialType;
  /** of the credential whose secrets are replaced: what is not secret is known */
  readonly hints?: Readonly<Record<string, string>>;
}

/** The fields of a type of credentials; or its key file, pasted. */
export function CredentialFields({ type, hints = {} }: CredentialFieldsProps) {
  const [file, setFile] = useState('');
  const fields = type.fields.filter((field) => constantOf(field) === undefined);
  return (
    <>
      {fields.length > 1 && fields.some(({ secret }) => secret) ? (
        <details open={fields.some(isMultiline)}>
          <summary>Paste a key file, or the output of the provider’s tool</summary>
          <TextArea
            name="credentialData"
            label="Key file"
            required={false}
            help="JSON. It replaces the fields below."
            onChange={(event) => setFile(event.target.value)}
          />
        </details>
      ) : null}
      {file.trim() === ''
        ? fields.map((field) => <OneField key={field.name} field={field} value={hints[field.name]} />)
        : null}
    </>
  );
}

function OneField({ field, value }: { field: CredentialField; value: string | undefined }) {
  const { name, label, description, required, secret, fixed, form } = field;
  const isFixed = fixed && value !== undefined;
  const given = {
    name: `credentialData.${name}`,
    label,
    help: `${sentence(description)}${isFixed ? '. It cannot be changed.' : ''}`,
    required,
    ...(value === undefined ? {} : { defaultValue: value }),
  };
  if (isMultiline(field)) return <TextArea {...given} />;
  const look = secret ? { type: 'password', autoComplete: 'new-password' } : { placeholder: form?.example };
  return <TextField {...given} {...look} readOnly={isFixed} />;
}

/** What was entered, for a request. Nothing: the type has no fields */
export function credentialDataOf(
  entered: Entered,
  type: CredentialType,
): { credentialData?: Record<string, string> } {
  const file = entered.optional('credentialData');
  // the API takes a file as the text that it is, too
  if (file !== undefined) return { credentialData: file as unknown as Record<string, string> };
  if (type.fields.length === 0) return {};
  const values = type.fields.map(
    (field) => [field.name, constantOf(field) ?? entered.text(`credentialData.${field.name}`)] as const,
  );
  return { credentialData: Object.fromEntries(values.filter(([, value]) => value !== '')) };
}
