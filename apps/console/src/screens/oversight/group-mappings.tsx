import { useState } from 'react';
import { api, type Schemas } from '../../api';
import { ChoiceField } from '../../parts/choosing';
import { useEdit } from '../../parts/edits';
import { Button, Form, Row, TextField } from '../../ui';

/** The value of a choice that is no role. */
const ADMINISTRATORS = 'administrators';
const RIGHTS = [[ADMINISTRATORS, 'Administrator rights']] as const;

export function GroupMappings({ provider }: { provider: Schemas['IdentityProviderDto'] }) {
  const params = { path: { id: provider.id } };
  const edit = useEdit(provider, () => api.GET('/api/v1/identity-providers/{id}', { params }));
  const [rows, setRows] = useState(() =>
    provider.groupMappings.map(({ group, roleId }, key) => ({ key, group, gets: roleId ?? ADMINISTRATORS })),
  );
  if (provider.groupsClaim === null) return <p>To let groups decide roles, enter the groups claim below.</p>;
  const add = (): void => setRows([...rows, { key: (rows.at(-1)?.key ?? 0) + 1, group: '', gets: '' }]);
  return (
    <Form
      submit="Save the groups"
      done="Saved."
      send={(entered) => {
        const gets = entered.all('gets');
        const groupMappings = entered.all('group').map((group, index) => ({
          group,
          ...(gets[index] === ADMINISTRATORS ? { isOrgAdmin: true } : { roleId: gets[index]! }),
        }));
        return edit({ groupMappings }, (body) =>
          api.PATCH('/api/v1/identity-providers/{id}', { params, body }),
        );
      }}
    >
      <p>
        Members of a group get its role at the next sign-in or check, and lose it with what is open by it when
        they leave the group. Roles that are not in this list are given here.
      </p>
      {rows.map(({ key, group, gets }) => (
        <Row key={key}>
          <TextField name="group" label="Group" maxLength={200} defaultValue={group} />
          <ChoiceField
            from="/api/v1/roles"
            name="gets"
            label="Gets"
            none="Choose"
            defaultValue={gets}
            extra={RIGHTS}
          />
          <Button kind="plain" onClick={() => setRows(rows.filter((row) => row.key !== key))}>
            Remove
          </Button>
        </Row>
      ))}
      <Row>
        <Button onClick={add}>Add a group</Button>
      </Row>
    </Form>
  );
}
