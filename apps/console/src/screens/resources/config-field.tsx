import type { Schemas } from '../../api';
import { SelectField, TextField, type Entered } from '../../ui';
import { sentence, type ResourceType } from './types';

type Field = Schemas['ConfigFieldDto'];
type Config = Schemas['ResourceConfigDto'];
type Value = string | number | readonly (string | number)[] | null | undefined;

const currentOf = (config: Config | undefined, name: string): Value =>
  (config as Readonly<Record<string, Value>> | undefined)?.[name];

const textOf = (value: Value): string => (Array.isArray(value) ? value.join(', ') : (value ?? '').toString());

interface Props {
  readonly field: Field;
  readonly config: Config | undefined;
}

/** A field of a resource's config, as its type describes it. */
export function ConfigField({ field, config }: Props) {
  const { type, required, choices, example } = field;
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
  const limits = { min: field.minimum, max: field.maximum };
  return (
    <TextField
      {...given}
      placeholder={textOf(example)}
      {...(type === 'integer' ? { type: 'number', ...limits } : {})}
    />
  );
}

function valueOf({ name, type }: Field, text: string, config: Config | undefined): unknown {
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
