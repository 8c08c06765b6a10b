import { Link, useNavigate } from '@tanstack/react-router';
import { api, useList } from '../../api';
import { DialogButton, Empty, Form, Muted, TextField, Time } from '../../ui';
import { Listed, PAGE_SIZE, RolePicker, UserStatus } from './parts';

/** The users for programs. */
export const ServiceUsers = ({ page }: { readonly page: number }) => (
  <Listed
    caption="Service users"
    query={useList('/api/v1/users', { query: { isService: true, page, size: PAGE_SIZE } })}
    page={page}
    columns={[
      {
        head: 'Name',
        cell: ({ id, name }) => (
          <Link to="/people/$id" params={{ id }}>
            {name}
          </Link>
        ),
      },
      {
        head: 'Roles',
        cell: ({ roleNames }) => roleNames.join(', ') || <Muted>none: it reaches nothing</Muted>,
      },
      { head: 'Status', cell: ({ status }) => <UserStatus status={status} /> },
      { head: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
    ]}
    empty={
      <Empty title="There is no service user yet.">
        <p>Create one for each pipeline or program. A CI trust brings its own.</p>
      </Empty>
    }
  />
);

/** Opens a short form, and then the page of the new user, where it gets keys. */
export function NewServiceUser() {
  const navigate = useNavigate();
  return (
    <DialogButton label="Create a service user" kind="primary" title="Create a service user">
      {(close) => (
        <Form
          submit="Create"
          onCancel={close}
          send={async (entered) => {
            const body = { isService: true, name: entered.text('name'), roleIds: entered.all('roleIds') };
            const { id } = (await api.POST('/api/v1/users', { body })).data!;
            await navigate({ to: '/people/$id', params: { id } });
          }}
        >
          <TextField
            name="name"
            label="Name"
            maxLength={200}
            help="Of the pipeline or program: deploy-to-staging."
          />
          <RolePicker />
        </Form>
      )}
    </DialogButton>
  );
}
