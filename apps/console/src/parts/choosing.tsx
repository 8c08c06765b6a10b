import { useQueries } from '@tanstack/react-query';
import { useId, useState, type ComponentProps } from 'react';
import { listOf, useList, type ListParameters, type Schemas } from '../api';
import { Loaded, Picker, SelectField, TextField, useTyped, type Choice } from '../ui';

/** The lists that one chooses from. */
type From = '/api/v1/resources' | '/api/v1/users' | '/api/v1/roles' | '/api/v1/credentials';
type Item = Schemas['ResourceDto' | 'UserDto' | 'RoleDto' | 'CredentialDto'];

/** More are searched. */
const SHOWN = 50;

/** What tells it from others of its name. */
function detailOf(item: Item): string | null {
  if ('email' in item) return item.email;
  if ('description' in item) return item.description;
  if (!('resourceIdentifier' in item)) return null;
  const where = [item.labels['drawbridge/account'], item.region, item.endpoint ?? item.resourceIdentifier];
  return where.filter(Boolean).join(' · ');
}

const choiceOf = (item: Item): Choice & { detail: string | null } => ({
  value: item.id,
  text: item.name,
  detail: detailOf(item),
});

interface ChosenProps {
  readonly from: From;
  /** which of them there are to choose from */
  readonly query?: ListParameters['query'];
}

/** What there is to choose from. @param ids of what is chosen already, and comes first: a search finds one by its own */
function useChoices({ from, query }: ChosenProps, search: string, ids: readonly string[]) {
  // of many roles, the members are long
  const short = from === '/api/v1/roles' ? { withMembers: false } : {};
  const asked = { ...query, ...short, search: search || undefined, sort: 'name', size: SHOWN };
  const list = useList(from, { query: asked }, { isStill: true });
  const found: readonly Item[] = list.data?.items ?? [];
  const chosen = useQueries({
    queries: ids.map((id) => ({
      ...listOf(from, { query: { ...short, search: id, size: 2 } }),
      refetchInterval: false,
    })),
  });
  const others = chosen
    .flatMap(({ data }): readonly Item[] => data?.items ?? [])
    .filter(({ id }) => ids.includes(id) && !found.some((each) => each.id === id));
  return { list, choices: [...(search === '' ? others : []), ...found].map(choiceOf) };
}

interface ChoosingProps extends ChosenProps, Omit<ComponentProps<typeof Picker>, 'choices' | 'more'> {}

/** Several of a list, which may be long. */
export function ChoicePicker({ from, query = {}, chosen = [], ...field }: ChoosingProps) {
  const [search, setSearch] = useState('');
  const [before] = useState(chosen);
  const { list, choices } = useChoices({ from, query }, useTyped(search), before);
  return (
    <Loaded query={list}>
      {({ total }) => (
        <Picker {...field} chosen={chosen} choices={choices} more={{ search: setSearch, total }} />
      )}
    </Loaded>
  );
}

/** The resources of a form. */
export const ResourcePicker = (given: Partial<ChoosingProps>) => (
  <ChoicePicker from="/api/v1/resources" name="resourceIds" label="Resources" {...given} />
);

interface ChoiceFieldProps extends ChosenProps, Omit<ComponentProps<typeof SelectField>, 'options'> {
  /** the text of no choice; left out: the first one is chosen */
  readonly none?: string;
  /** further values, and their texts */
  readonly extra?: readonly (readonly [value: string, text: string])[];
}

/** One of a list: by a search where it is too long for a `select`. */
export function ChoiceField({ from, query = {}, none, extra = [], ...field }: ChoiceFieldProps) {
  const [own, setOwn] = useState(field.defaultValue ?? '');
  // null: nothing was typed yet
  const [text, setText] = useState<string | null>(null);
  const listId = useId();
  const { name, label, help, required, value = own, onChange } = field;
  // what was chosen here was taken away elsewhere, as with all filters
  const isGone = value === '' && own !== '';
  const searched = isGone ? '' : (text ?? '');
  const typed = useTyped(value === '' ? searched : '');
  const isExtra = value === '' || extra.some(([each]) => each === value);
  const { list, choices } = useChoices({ from, query }, typed, isExtra ? [] : [value]);
  const lines = choices.map((each) => [each.value, lineOf(each)] as const);
  // gone, or of another list
  const unknown = isExtra || lines.some(([each]) => each === value) ? [] : ([[value, value]] as const);
  const options = [...lines, ...unknown, ...extra];
  const choose = (line: string): void => {
    setText(line);
    const chosen = options.find(([, each]) => each === line)?.[0] ?? '';
    setOwn(chosen);
    if (chosen !== value) onChange?.(chosen);
  };
  return (
    <Loaded query={list}>
      {({ total }) =>
        text === null && total <= SHOWN ? (
          <SelectField
            {...field}
            options={[...(none === undefined ? [] : [['', none] as const]), ...options]}
          />
        ) : (
          <>
            <input type="hidden" name={name} value={value} />
            <TextField
              {...{ name, label, help, required }}
              // the hidden one is sent
              form=""
              list={listId}
              placeholder={none ?? 'Search'}
              value={options.find(([each]) => each === value)?.[1] ?? searched}
              onChange={({ target }) => choose(target.value)}
            />
            <datalist id={listId}>
              {options.map(([each, line]) => (
                <option key={each} value={line} />
              ))}
            </datalist>
          </>
        )
      }
    </Loaded>
  );
}

/** On one line. */
const lineOf = ({ text, detail }: ReturnType<typeof choiceOf>): string =>
  detail === null ? text : `${text} (${detail})`;
