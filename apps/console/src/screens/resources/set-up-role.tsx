import { api, useAll, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { CheckField, Form, Loaded, Section, SelectField, TextField } from '../../ui';
import type { SetUpSearch } from './set-up-steps';

interface Props {
  readonly resourceId: string;
  readonly go: (to: SetUpSearch, replace?: boolean) => void;
}

/** Who may open the resource, and for how long: a new role, or one that is there. */
export function RoleStep({ resourceId, go }: Props) {
  const me = useMe();
  const roles = useAll('/api/v1/roles');
  const onDone = ({ id }: { readonly id: string }): void => go({ step: 'done', role: id });
  return (
    <Loaded query={me}>
      {({ id: myId }) => (
        <Loaded query={roles}>
          {(all) => (
            <>
              {all.length > 0 ? (
                <ExistingRole roles={all} resourceId={resourceId} myId={myId} onDone={onDone} />
              ) : null}
              <Section title="New role">
                <p>People with this role may open the resource for themselves.</p>
                <Form
                  submit="Save"
                  onDone={onDone}
                  send={async (entered) => {
                    const hours = entered.optional('maxSessionDurationHours');
                    const body = {
                      name: entered.text('name'),
                      resourceIds: [resourceId],
                      userIds: entered.checked('mine') ? [myId] : [],
                      ...(hours === undefined ? {} : { maxSessionDurationHours: Number(hours) }),
                    };
                    return (await api.POST('/api/v1/roles', { body })).data!;
                  }}
                >
                  <TextField name="name" label="Name" defaultValue={all.length === 0 ? 'Developers' : ''} />
                  <TextField
                    name="maxSessionDurationHours"
                    label="Longest session, in hours"
                    type="number"
                    min={1}
                    required={false}
                    help="Left out: as long as your plan allows."
                  />
                  <Mine />
                </Form>
              </Section>
            </>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

const Mine = () => <CheckField name="mine" label="I have this role, too" defaultChecked />;

interface ExistingProps {
  readonly roles: readonly Schemas['RoleDto'][];
  readonly resourceId: string;
  readonly myId: string;
  readonly onDone: (role: { readonly id: string }) => void;
}

const ExistingRole = ({ roles, resourceId, myId, onDone }: ExistingProps) => (
  <Section title="Add it to a role that you have">
    <Form
      submit="Add to this role"
      submitKind="normal"
      onDone={onDone}
      send={async (entered) => {
        const id = entered.text('role');
        await api.POST('/api/v1/roles/{id}/resources/{resourceId}', { params: { path: { id, resourceId } } });
        if (entered.checked('mine'))
          await api.POST('/api/v1/roles/{id}/users/{userId}', { params: { path: { id, userId: myId } } });
        return { id };
      }}
    >
      <SelectField name="role" label="Role" options={roles.map(({ id, name }) => [id, name])} />
      <Mine />
    </Form>
  </Section>
);
