import { useState } from 'react';
import { api, useAll, type Schemas } from '../../api';
import { useEdit } from '../../parts/edits';
import { Button, Form, Loaded, Row, SelectField, TextField } from '../../ui';

/** The value of a choice that is no role. */
const ADMINISTRATORS = 'administrators';

/** Which groups of the provider get which roles. */
export function GroupMappings({ provider }: { provider: Schemas['IdentityProviderDto'] }) {
  const roles = useAll('/api/v1/roles');
  const params = { path: { id: provider.id } };
  const edit = useEdit(provider, () => api.GET('/api/v1/identity-providers/{id}', { params }));
  const [rows, setRows] = useState(() =>
    provider.groupMappings.map(({ group, roleId }, key) => ({ key, group, gets: roleId ?? ADMINISTRATORS })),
  );
  if (provider.groupsClaim === null) return <p>To let groups decide roles, enter the groups claim below.</p>;
  const add = (): void => setRows([...rows, { key: (rows.at(-1)?.key ?? 0) + 1, group: '', gets: '' }]);
  return (
    <Loaded query={roles}>
      {(all) => (
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
            Members of a group get its role at the next sign-in or check, and lose it with what is open by it
            when they leave the group. Roles that are not in this list are given here.
          </p>
          {rows.map(({ key, group, gets }) => (
            <Row key={key}>
              <TextField name="group" label="Group" maxLength={200} defaultValue={group} />
              <SelectField
                name="gets"
                label="Gets"
                defaultValue={gets}
                options={[
                  ['', 'Choose'],
                  ...all.map(({ id, name }) => [id, name] as const),
                  [ADMINISTRATORS, 'Administrator rights'],
                ]}
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
      )}
    </Loaded>
  );
}
