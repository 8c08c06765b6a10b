import { Form, Section, SelectField } from '../../ui';

interface Props<Item> {
  /** such as "credential" */
  readonly what: string;
  readonly items: readonly Item[];
  readonly onUse: (item: Item) => void;
}

/** Skips a step with what is there already. */
export const UseExisting = <Item extends { readonly id: string; readonly name: string }>({
  what,
  items,
  onUse,
}: Props<Item>) =>
  items.length === 0 ? null : (
    <Section title={`Use a ${what} that you have`}>
      <Form
        submit="Use it"
        submitKind="normal"
        send={async (entered) => items.find(({ id }) => id === entered.text(`existing-${what}`))!}
        onDone={onUse}
      >
        <SelectField
          name={`existing-${what}`}
          label={`Existing ${what}`}
          options={items.map(({ id, name }) => [id, name])}
        />
      </Form>
    </Section>
  );
