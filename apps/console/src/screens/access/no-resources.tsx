import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api';
import { ButtonLink, Empty, Notice } from '../../ui';

/** Nothing can be opened: whom to ask, or what to do. */
export function NoResources({ me }: { readonly me: Schemas['MeDto'] }) {
  if (me.isOrgAdmin)
    return (
      <Empty title="None of your roles has a resource yet">
        <p>Add what your organization protects, and give it to yourself and others with a role.</p>
        <ButtonLink kind="primary" to="/set-up">
          Set up
        </ButtonLink>
        <Link to="/roles">Roles</Link>
      </Empty>
    );
  return (
    <Empty title="No resource is assigned to you yet">
      <p>
        Ask an administrator of {me.organization.name} to add you ({me.email}) to a role. This page shows what
        you can open as soon as that is done.
      </p>
    </Empty>
  );
}

/** Resources of this person that cannot be opened at the moment. */
export function Unverified({ resources }: { readonly resources: readonly Schemas['ResourceDto'][] }) {
  const names = resources.filter(({ isActive }) => !isActive).map(({ name }) => name);
  if (names.length === 0) return null;
  return (
    <Notice>
      Not available until an administrator has verified {names.length === 1 ? 'it' : 'them'}:{' '}
      {names.join(', ')}
    </Notice>
  );
}
