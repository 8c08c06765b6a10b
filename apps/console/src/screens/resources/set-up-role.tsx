import { useState } from 'react';
import { api, useAll } from '../../api';
import { useMe } from '../../layout/me';
import { CheckField, Form, Loaded, Section, SelectField, TextField, type Entered } from '../../ui';
import type { SetUpSearch } from './set-up-steps';

interface Props {
  readonly resourceId: string;
  readonly go: (to: SetUpSearch) => void;
}

/** Who may open the resource, and for how long: a new role, or one that is there. */
export function RoleStep({ resourceId, go }: Props) {
  const me = useMe();
  const roles = useAll('/api/v1/roles');
  const [chosen, setChosen] = useState('');
  const send = async (entered: Entered): Promise<string> => {
    const mine = me.data && entered.checked('mine') ? [me.data.id] : [];
    if (chosen === '') return makeRole(entered, resourceId, mine);
    await api.POST('/api/v1/roles/{id}/resources/{resourceId}', {
      params: { path: { id: chosen, resourceId } },
    });
    for (const userId of mine)
      await api.POST('/api/v1/roles/{id}/users/{userId}', { params: { path: { id: chosen, userId } } });
    return chosen;
  };
  return (
    <Loaded query={roles}>
      {(all) => (
        <Section title="Role">
          <p>People with this role may open the resource for themselves.</p>
          <Form submit="Save" send={send} onDone={(role) => go({ step: 'done', role })}>
            {all.length > 0 ? (
              <SelectField
                name="role"
                label="Role"
                value={chosen}
                onChange={setChosen}
                options={[['', 'A new role'], ...all.map(({ id, name }) => [id, name] as const)]}
              />
            ) : null}
            {chosen === '' ? (
              <>
                <TextField name="name" label="Name" defaultValue={all.length === 0 ? 'Developers' : ''} />
                <TextField
                  name="maxSessionDurationHours"
                  label="Longest session, in hours"
                  type="number"
                  min={1}
                  required={false}
                  help="Left out: as long as your plan allows."
                />
              </>
            ) : null}
            <CheckField name="mine" label="I have this role, too" defaultChecked />
          </Form>
        </Section>
      )}
    </Loaded>
  );
}

async function makeRole(entered: Entered, resourceId: string, userIds: string[]): Promise<string> {
  const hours = entered.optional('maxSessionDurationHours');
  const body = {
    name: entered.text('name'),
    resourceIds: [resourceId],
    userIds,
    ...(hours === undefined ? {} : { maxSessionDurationHours: Number(hours) }),
  };
  return (await api.POST('/api/v1/roles', { body })).data!.id;
}
