import { useState } from 'react';
import type { Schemas } from '../../api';
import { TextArea, TextField, type Entered } from '../../ui';
import { sentence, type CredentialType } from './types';

type Field = Schemas['CredentialFieldDto'];

/** A field that takes one text only is no question. */
const constantOf = ({ form }: Field): string | undefined => /^\^(\w+)\$$/.exec(form?.pattern ?? '')?.[1];

const isMultiline = ({ form }: Field): boolean => form?.example.includes('\n') ?? false;

interface Props {
  readonly type: CredentialType;
  /** of the credential whose secrets are replaced: what is not secret is known */
  readonly hints?: Readonly<Record<string, string>>;
}

/** The fields of a type of credentials; or its key file, pasted. */
export function CredentialFields({ type, hints }: Props) {
  const [json, setJson] = useState('');
  const fields = type.fields.filter((field) => constantOf(field) === undefined);
  const hasFile = fields.length > 1 && fields.some(({ secret }) => secret);
  return (
    <>
      {hasFile ? (
        <details open={fields.some(isMultiline)}>
          <summary>Paste a key file, or the output of the provider’s tool</summary>
          <TextArea
            name="credentialData"
            label="Key file"
            required={false}
            help="JSON. It replaces the fields below."
            onChange={(event) => setJson(event.target.value)}
          />
        </details>
      ) : null}
      {json.trim() === ''
        ? fields.map((field) => <OneField key={field.name} field={field} value={hints?.[field.name]} />)
        : null}
    </>
  );
}

function OneField({ field, value }: { readonly field: Field; readonly value: string | undefined }) {
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
  return (
    <TextField
      {...given}
      {...(secret ? { type: 'password', autoComplete: 'new-password' } : { placeholder: form?.example })}
      readOnly={isFixed}
    />
  );
}

/** What was entered, for a request. undefined: the type has no fields */
export function credentialDataOf(entered: Entered, type: CredentialType): Record<string, string> | undefined {
  const file = entered.optional('credentialData');
  // the API takes a file as the text that it is, too
  if (file !== undefined) return file as unknown as Record<string, string>;
  if (type.fields.length === 0) return undefined;
  return Object.fromEntries(
    type.fields
      .map(
        (field) => [field.name, constantOf(field) ?? entered.text(`credentialData.${field.name}`)] as const,
      )
      .filter(([, value]) => value !== ''),
  );
}
